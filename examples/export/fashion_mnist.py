#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a training step of Fashion-MNIST as StableHLO, for muster::pjrt.

    fashion_mnist.py --model dense|conv --local-batch 16 --out FOLDER
    fashion_mnist.py … --form spmd --devices 4 --out FOLDER

The folder gets step.json (docs/reference/step-format.md) and the programs that
it names. Needs jax; whoever trains with them does not. To export a step of your
own, replace `MODELS` and keep the rest.
"""
import argparse
import json
import math
import os
import pathlib

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--model", choices=["dense", "conv"], default="conv")
parser.add_argument("--local-batch", type=int, default=16)
parser.add_argument("--learning-rate", type=float, default=0.003)
parser.add_argument("--form", choices=["compose", "spmd"], default="compose")
parser.add_argument("--devices", type=int, default=1, help="of the form spmd")
parser.add_argument("--out", type=pathlib.Path, required=True)
arguments = parser.parse_args()

if arguments.form == "spmd":
    # Before jax is imported: as many devices as the step is made for.
    os.environ["XLA_FLAGS"] = (
        f"--xla_force_host_platform_device_count={arguments.devices}")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

CLASSES = 10


def dense(inputs, outputs):
    return {"shape": (inputs, outputs), "fan_in": inputs}


def conv(inputs, outputs, side=3):
    return {"shape": (outputs, inputs, side, side),
            "fan_in": inputs * side * side}


def bias(size):
    return {"shape": (size,), "fan_in": None}


def smooth(x):
    """SiLU. Where ReLU bends, two compilers that round otherwise take different
    sides, and their losses part."""
    return x * jax.nn.sigmoid(x)


def apply_dense(p, images):
    hidden = smooth(images.reshape(images.shape[0], -1) @ p["hidden.weight"]
                    + p["hidden.bias"])
    return hidden @ p["last.weight"] + p["last.bias"]


def apply_conv(p, images):
    x = images
    for name in ("first", "second"):
        x = jax.lax.conv_general_dilated(
            x, p[name + ".weight"], window_strides=(2, 2), padding="SAME",
            dimension_numbers=("NCHW", "OIHW", "NCHW"))
        x = smooth(x + p[name + ".bias"][None, :, None, None])
    return x.reshape(x.shape[0], -1) @ p["last.weight"] + p["last.bias"]


MODELS = {
    "dense": (apply_dense, {
        "hidden.weight": dense(784, 10), "hidden.bias": bias(10),
        "last.weight": dense(10, CLASSES), "last.bias": bias(CLASSES)}),
    "conv": (apply_conv, {
        "first.weight": conv(1, 16), "first.bias": bias(16),
        "second.weight": conv(16, 32), "second.bias": bias(32),
        "last.weight": dense(32 * 7 * 7, CLASSES), "last.bias": bias(CLASSES)}),
}
APPLY, PARAMETERS = MODELS[arguments.model]
NAMES = list(PARAMETERS)
STATE = (NAMES + ["adam.m." + name for name in NAMES] +
         ["adam.v." + name for name in NAMES] + ["adam.step"])


def initialize(seed):
    keys = jax.random.split(jax.random.PRNGKey(seed), len(NAMES))
    parameters = []
    for key, description in zip(keys, PARAMETERS.values()):
        shape, fan_in = description["shape"], description["fan_in"]
        parameters.append(
            jnp.zeros(shape) if fan_in is None else
            jax.random.normal(key, shape) * math.sqrt(2 / fan_in))
    zeros = [jnp.zeros_like(p) for p in parameters]
    return (*parameters, *zeros, *zeros, jnp.float32(0))


def cross_entropy(parameters, images, labels):
    logits = APPLY(dict(zip(NAMES, parameters)), images)
    chosen = jax.nn.one_hot(labels, CLASSES)
    return -jnp.mean(jnp.sum(chosen * jax.nn.log_softmax(logits), axis=1))


def gradient(*flat):
    parameters, (images, labels) = flat[:-2], flat[-2:]
    loss, gradients = jax.value_and_grad(cross_entropy)(
        parameters, images, labels)
    return (loss, *gradients)


def update(*flat):
    """Adam (Kingma and Ba, 2015, algorithm 1)."""
    n = len(NAMES)
    parameters, m, v, step = flat[:n], flat[n:2 * n], flat[2 * n:3 * n], flat[3 * n]
    gradients = flat[3 * n + 1:]
    step = step + 1
    m = [0.9 * a + 0.1 * g for a, g in zip(m, gradients)]
    v = [0.999 * a + 0.001 * g * g for a, g in zip(v, gradients)]
    rate = (arguments.learning_rate * jnp.sqrt(1 - 0.999 ** step) /
            (1 - 0.9 ** step))
    parameters = [p - rate * a / (jnp.sqrt(b) + 1e-8)
                  for p, a, b in zip(parameters, m, v)]
    return (*parameters, *m, *v, step)


def step(*flat):
    loss, *gradients = gradient(*flat[:len(NAMES)], *flat[-2:])
    return (*update(*flat[:-2], *gradients), loss)


def evaluate(*flat):
    """How many of the batch are right. A label of -1 never is."""
    parameters, (images, labels) = flat[:-2], flat[-2:]
    logits = APPLY(dict(zip(NAMES, parameters)), images)
    right = jnp.argmax(logits, axis=1).astype(jnp.int32) == labels
    return (jnp.sum(right.astype(jnp.float32)),)


def described(names, arrays):
    short = {"float32": "F32", "int32": "I32"}
    return [{"name": name, "dtype": short[str(array.dtype)],
             "shape": list(array.shape)}
            for name, array in zip(names, arrays)]


def main():
    seed = jax.ShapeDtypeStruct((), jnp.int32)
    state = jax.eval_shape(initialize, seed)
    parameters = state[:len(NAMES)]
    local = arguments.local_batch

    def batch_of(samples):
        return (jax.ShapeDtypeStruct((samples, 1, 28, 28), jnp.float32),
                jax.ShapeDtypeStruct((samples,), jnp.int32))

    programs = {
        "initialize": jax.jit(initialize).lower(seed),
        "evaluate": jax.jit(evaluate, keep_unused=True).lower(
            *parameters, *batch_of(local)),
    }
    document = {"schema": "muster.step/1", "form": arguments.form}
    if arguments.form == "compose":
        programs["gradient"] = jax.jit(gradient, keep_unused=True).lower(
            *parameters, *batch_of(local))
        programs["update"] = jax.jit(update, keep_unused=True).lower(
            *state, *parameters)
    else:
        document["devices"] = arguments.devices
        mesh = jax.sharding.Mesh(jax.devices(), ("data",))
        whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        split = jax.sharding.NamedSharding(mesh,
                                           jax.sharding.PartitionSpec("data"))
        programs["step"] = jax.jit(
            step, keep_unused=True,
            in_shardings=(whole,) * len(state) + (split,) * 2,
            out_shardings=(whole,) * (len(state) + 1),
            donate_argnums=tuple(range(len(state)))).lower(
                *state, *batch_of(local * arguments.devices))
    document.update({
        "local_batch": local,
        "state": described(STATE, state),
        "parameters": len(NAMES),
        "batch": described(["images", "labels"], batch_of(local)),
        "metrics": ["loss"],
        "scores": ["right"],
        "programs": {name: name + ".mlir" for name in programs},
    })
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, lowered in programs.items():
        (arguments.out / (name + ".mlir")).write_text(lowered.as_text())
    (arguments.out / "step.json").write_text(
        json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
