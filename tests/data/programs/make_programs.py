#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the programs of this folder that JAX makes (made with jax 0.8.2).

  tests/data/programs/make_programs.py FOLDER

Bytecode and artefacts of jax.export are kept in base64. unknown_op,
custom_call, all_reduce8, dynamic and wrong_types are written by hand;
truncated.mlir and truncated.bc are the beginnings of dense.
"""
import base64
import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
# pylint: disable=wrong-import-position
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import export, lax  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

FOLDER = pathlib.Path(sys.argv[1])


def shape(*sides, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(sides, dtype)


def text(name, function, *arguments):
    (FOLDER / f"{name}.mlir").write_text(
        jax.jit(function).lower(*arguments).as_text())


def coded(name, content):
    (FOLDER / f"{name}.b64").write_bytes(base64.encodebytes(content))


def loss(p, x, y):
    hidden = jax.nn.relu(x @ p[0] + p[1])
    logits = jax.nn.log_softmax(hidden @ p[2] + p[3])
    return -jnp.mean(jnp.sum(logits * jax.nn.one_hot(y, 10), -1))


def step(p, x, y):
    value, gradient = jax.value_and_grad(loss)(p, x, y)
    return [a - 0.1 * b for a, b in zip(p, gradient)], value


def convolution(kernel, x):
    y = lax.conv_general_dilated(x, kernel, (1, 1), "SAME",
                                 dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jnp.sum(lax.reduce_window(jax.nn.relu(y), -jnp.inf, lax.max,
                                     (1, 2, 2, 1), (1, 2, 2, 1), "VALID"))


def main():
    batch = ([shape(784, 512), shape(512), shape(512, 10), shape(10)],
             shape(256, 784), shape(256, dtype=jnp.int32))
    text("dense", step, *batch)
    mesh = Mesh(np.array(jax.devices()), ("d",))
    whole = NamedSharding(mesh, PartitionSpec())
    parts = NamedSharding(mesh, PartitionSpec("d"))
    spmd = jax.jit(step, in_shardings=([whole] * 4, parts, parts),
                   out_shardings=([whole] * 4, whole))
    text("dense_spmd8", spmd, *batch)
    for name, function in (("dense", jax.jit(step)), ("dense_spmd8", spmd)):
        exported = export.export(function, platforms=["tpu"])(*batch)
        coded(f"{name}.jax_export", exported.serialize())
        coded(f"{name}.bc", exported.mlir_module_serialized)
    text("conv", jax.grad(convolution), shape(3, 3, 3, 32),
         shape(64, 32, 32, 3))
    text("attention", lambda q, k, v: jax.nn.softmax(q @ k.T / 8) @ v,
         *[shape(512, 64)] * 3)
    text("embedding", lambda table, i: table[i].sum(1), shape(10000, 128),
         shape(64, 32, dtype=jnp.int32))
    text("scan", lambda c, xs: lax.scan(
        lambda a, b: (jnp.tanh(a + b), a), c, xs), shape(128),
         shape(100, 128))
    text("sin", jnp.sin, shape(128, 128))
    half = shape(512, 512, dtype=jnp.bfloat16)
    text("bf16", lambda a, b: a @ b, half, half)
    text("too_large", lambda a, b: a @ b, *[shape(60000, 60000)] * 2)
    text("large", jnp.tanh, shape(60000, 100000))
    text("host_callback",
         lambda x: jax.pure_callback(np.sin, shape(8), x), shape(8))
    jax.config.update("jax_enable_x64", True)
    text("float64", lambda a, b: a @ b,
         *[shape(64, 64, dtype=jnp.float64)] * 2)
    text("fft_c64", jnp.fft.fft2, shape(8, 8, dtype=jnp.complex64))
    text("fft_c128", jnp.fft.fft2, shape(8, 8, dtype=jnp.complex128))


if __name__ == "__main__":
    main()
