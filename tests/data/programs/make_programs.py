#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the programs of this folder that JAX makes (made with jax 0.8.2).

  tests/data/programs/make_programs.py FOLDER

Those that are here already stay as they are: other versions of JAX write them
otherwise. Bytecode and artefacts of jax.export are kept in base64. Written by
hand: all_reduce8, custom_call, dynamic, huge_output, huge_splat, identity,
no_arguments, no_main, unknown_op, wrong_types. truncated.mlir and truncated.bc
are the beginnings of dense.
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
# Programs name our files, not the folders that they were made in.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


def shape(*sides, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(sides, dtype)


def text(name, function, *arguments):
    (FOLDER / f"{name}.mlir").write_text(
        jax.jit(function).lower(*arguments).as_text())


def coded(name, content):
    (FOLDER / f"{name}.b64").write_bytes(base64.encodebytes(content))


def tpu(name, function, *arguments, **options):
    """Lowered for TPUs, where what JAX writes for the CPU is another thing."""
    lowered = jax.jit(function, **options).trace(*arguments).lower(
        lowering_platforms=("tpu",))
    (FOLDER / f"{name}.mlir").write_text(lowered.as_text())


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


def adam(p, m, v, x, y):
    """A step in bfloat16 with its state in float32."""
    value, g = jax.value_and_grad(loss)(
        [a.astype(jnp.bfloat16) for a in p], x, y)
    g = [a.astype(jnp.float32) for a in g]
    m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
    v = [0.99 * a + 0.01 * b * b for a, b in zip(v, g)]
    return [a - 1e-3 * b / (jnp.sqrt(c) + 1e-8)
            for a, b, c in zip(p, m, v)], m, v, value


def block(p, x):
    """Attention of several heads and a dense layer, both normalised."""
    def norm(a):
        return (a - a.mean(-1, keepdims=True)) * lax.rsqrt(
            a.var(-1, keepdims=True) + 1e-5)
    q, k, v = jnp.split(norm(x) @ p[0], 3, -1)
    q, k, v = (a.reshape(*a.shape[:2], 4, -1) for a in (q, k, v))
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ p[1]
    return x + jax.nn.gelu(norm(x) @ p[2]) @ p[3]


def residual(k, x):
    def conv(a, b, stride=1):
        return lax.conv_general_dilated(
            a, b, (stride, stride), "SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"))
    y = jax.nn.relu(conv(x, k[0]))
    y = (y - y.mean((0, 1, 2))) * lax.rsqrt(y.var((0, 1, 2)) + 1e-5)
    return jnp.mean(jax.nn.relu(x + conv(y, k[1])) ** 2)


def recurrent(p, x):
    def cell(h, row):
        z, r = jnp.split(jax.nn.sigmoid(row @ p[0] + h @ p[1]), 2, -1)
        h = (1 - z) * h + z * jnp.tanh(row @ p[2] + (r * h) @ p[3])
        return h, h
    return jnp.sum(lax.scan(cell, jnp.zeros((x.shape[1], 64)), x)[1])


def models():
    batch = (shape(256, 784), shape(256, dtype=jnp.int32))
    state = [shape(784, 512), shape(512), shape(512, 10), shape(10)]
    tpu("adam_bf16", adam, state, state, state, *batch)
    tpu("donated", step, state, *batch, donate_argnums=0)
    width = [shape(128, 384), shape(128, 128), shape(128, 256),
             shape(256, 128)]
    tpu("transformer",
        jax.grad(lambda p, x: jnp.mean(block(p, x) ** 2)), width,
        shape(4, 64, 128))
    tpu("residual", jax.grad(residual), [shape(3, 3, 16, 16)] * 2,
        shape(4, 8, 8, 16))
    tpu("recurrent", jax.grad(recurrent),
        [shape(32, 128), shape(64, 128), shape(32, 64), shape(64, 64)],
        shape(20, 16, 32))
    tpu("embedding_grad",
        jax.grad(lambda table, i: jnp.sum(table[i] ** 2)),
        shape(10000, 128), shape(64, 32, dtype=jnp.int32))
    tpu("conv3d", lambda k, x: lax.conv_general_dilated(
        x, k, (1, 1, 1), "SAME",
        dimension_numbers=("NDHWC", "DHWIO", "NDHWC")),
        shape(3, 3, 3, 4, 8), shape(2, 4, 8, 8, 4))
    tpu("depthwise", lambda k, x: lax.conv_general_dilated(
        x, k, (1, 1), "SAME", feature_group_count=32,
        dimension_numbers=("NHWC", "HWIO", "NHWC")),
        shape(3, 3, 1, 32), shape(8, 28, 28, 32))


def operations():
    tpu("top_k", lambda x: lax.top_k(x, 5), shape(64, 1000))
    tpu("sort", lambda x: jnp.sort(x, -1), shape(8, 128))
    tpu("random", lambda k: jax.random.normal(k, (128, 128)),
        shape(2, dtype=jnp.uint32))
    tpu("while", lambda x: lax.while_loop(
        lambda a: jnp.sum(a) > 1, lambda a: a / 2, x), shape(128))
    tpu("cond", lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x),
        shape(dtype=jnp.bool_), shape(128))
    tpu("triangular", lambda a, b: lax.linalg.triangular_solve(
        a, b, left_side=True, lower=True), shape(64, 64), shape(64, 8))
    tpu("cholesky", jnp.linalg.cholesky, shape(64, 64))
    text("cholesky_cpu", jnp.linalg.cholesky, shape(64, 64))
    tpu("int8", lambda a, b: lax.dot(
        a, b, preferred_element_type=jnp.int32),
        *[shape(128, 128, dtype=jnp.int8)] * 2)
    tpu("float8", lambda a, b: lax.dot(
        a, b, preferred_element_type=jnp.float32),
        *[shape(128, 128, dtype=jnp.float8_e4m3fn)] * 2)
    tpu("int4", lambda a: a.astype(jnp.int8) * 2,
        shape(128, 128, dtype=jnp.int4))
    tpu("complex64", lambda a, b: a @ b,
        *[shape(64, 64, dtype=jnp.complex64)] * 2)
    tpu("rank0", lambda x: x + 1, shape())
    text("debug_callback",
        lambda x: (jax.debug.callback(lambda y: None, x), x * 2)[1], shape(8))
    tpu("huge_constant", lambda x: x + jnp.ones((1 << 31,), jnp.float32)[7],
        shape(8))
    tpu("iota", lambda x: x * lax.iota(jnp.float32, 1 << 20), shape(1 << 20))


def sizes():
    """What fits a TPU v5e (16 909 332 480 bytes), and what just does not."""
    for rows, name in ((127616, "below_1_percent"), (130304, "above_1_percent"),
                       (1290240, "above_10_times")):
        tpu(name, jnp.tanh, shape(rows, 16384))
    for batch in (16, 28, 40):
        tpu(f"batch{batch}", jnp.tanh, shape(batch, 8192, 8192))
    tpu("padded", lambda k, x: lax.conv_general_dilated(
        x, k, (1, 1), "SAME", feature_group_count=32,
        dimension_numbers=("NHWC", "HWIO", "NHWC")),
        shape(3, 3, 1, 32), shape(60, 160, 160, 32))


def meshes():
    def sharded(name, function, sides, specs, *arguments):
        mesh = Mesh(np.array(jax.devices()).reshape(sides), ("a", "b"))
        body = jax.shard_map(function, mesh=mesh, in_specs=specs,
                             out_specs=specs[0], check_vma=False)
        text(name, body, *arguments)
    rows = (PartitionSpec("a", "b"),)
    sharded("psum_4x2", lambda x: lax.psum(x, "a"), (4, 2), rows,
            shape(64, 256))
    sharded("all_to_all", lambda x: lax.all_to_all(x, "a", 0, 0, tiled=True),
            (4, 2), rows, shape(64, 256))
    sharded("permute", lambda x: lax.ppermute(
        x, "a", [(i, (i + 1) % 8) for i in range(8)]), (8, 1), rows,
        shape(64, 256))
    sharded("all_gather", lambda x: lax.all_gather(
        x, "b", axis=1, tiled=True)[:, :x.shape[1]], (4, 2), rows,
        shape(64, 256))
    scope = export.SymbolicScope()
    b = export.symbolic_shape("b", scope=scope)[0]
    symbolic = export.export(jax.jit(step), platforms=["tpu"])(
        [shape(784, 512), shape(512), shape(512, 10), shape(10)],
        shape(b, 784), shape(b, dtype=jnp.int32))
    coded("symbolic.jax_export", symbolic.serialize())


def main():
    models()
    operations()
    sizes()
    meshes()
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
