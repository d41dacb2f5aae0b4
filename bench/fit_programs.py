#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes training steps of several sizes as StableHLO text, with JAX, and what
`muster check fit` is to be told of each.

  MUSTER_INTEROP_PYTHON bench/fit_programs.py FOLDER

makes FOLDER/NAME.mlir and FOLDER/programs.json. Shapes only: nothing is
allocated. bench/fit_errors.py compares the two.
"""
import functools
import json
import pathlib
import sys

import jax
import jax.numpy as jnp

BYTES = {"f32": 4, "bf16": 2}
TYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16}


def spec(*shape, dtype):
    return jax.ShapeDtypeStruct(shape, dtype)


def sgd(parameters, gradients, state):
    return jax.tree.map(lambda p, g: p - 1e-3 * g.astype(p.dtype),
                        parameters, gradients), state


def momentum(parameters, gradients, state):
    state = jax.tree.map(lambda m, g: 0.9 * m + g.astype(m.dtype), state,
                         gradients)
    return jax.tree.map(lambda p, m: p - 1e-3 * m, parameters, state), state


def adam(parameters, gradients, state):
    first, second = state
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g.astype(m.dtype), first,
                         gradients)
    second = jax.tree.map(
        lambda v, g: 0.999 * v + 0.001 * jnp.square(g.astype(v.dtype)),
        second, gradients)
    return jax.tree.map(
        lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), parameters, first,
        second), (first, second)


OPTIMIZERS = {"sgd": (sgd, lambda p: ()),
              "momentum": (momentum, lambda p: p),
              "adam": (adam, lambda p: (p, p))}


def train_step(loss, update, mixed):
    def step(parameters, state, batch):
        def of(p):
            if mixed:
                p = jax.tree.map(lambda x: x.astype(jnp.bfloat16), p)
            return loss(p, batch)
        value, gradients = jax.value_and_grad(of)(parameters)
        parameters, state = update(parameters, gradients, state)
        return parameters, state, value
    return jax.jit(step, donate_argnums=(0, 1))


# ---- Models ----

def dense(width, layers, batch, dtype):
    """Layers of one width, without a scan: each gradient is an array."""
    parameters = {f"w{i}": spec(width, width, dtype=dtype)
                  for i in range(layers)}

    def loss(p, x):
        for i in range(layers):
            x = jax.nn.relu(x @ p[f"w{i}"])
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    return parameters, loss, spec(batch, width, dtype=dtype)


def norm(x):
    y = x.astype(jnp.float32)
    return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)
            ).astype(x.dtype)


def block(x, p, heads):
    batch, sequence, hidden = x.shape
    q, k, v = jnp.split(norm(x) @ p["qkv"], 3, -1)

    def split(y):
        return y.reshape(batch, sequence, heads, hidden // heads)

    scores = jnp.einsum("bqhd,bkhd->bhqk", split(q), split(k))
    mask = jnp.tril(jnp.ones((sequence, sequence), bool))
    scores = jnp.where(mask, scores / (hidden // heads) ** 0.5, -1e9)
    weights = jax.nn.softmax(scores.astype(jnp.float32)).astype(x.dtype)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, split(v))
    x = x + mixed.reshape(x.shape) @ p["out"]
    return x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]


def transformer(layers, hidden, heads, sequence, batch, vocab, dtype, remat):
    def stacked(*shape):
        return spec(layers, *shape, dtype=dtype)
    parameters = {"embed": spec(vocab, hidden, dtype=dtype),
                  "blocks": {"qkv": stacked(hidden, 3 * hidden),
                             "out": stacked(hidden, hidden),
                             "up": stacked(hidden, 4 * hidden),
                             "down": stacked(4 * hidden, hidden)}}

    def loss(p, tokens):
        one = functools.partial(block, heads=heads)
        one = jax.checkpoint(one) if remat else one
        x = p["embed"][tokens]
        x, _ = jax.lax.scan(lambda x, q: (one(x, q), None), x, p["blocks"])
        logits = (norm(x) @ p["embed"].T).astype(jnp.float32)
        right = jnp.take_along_axis(logits, tokens[..., None], -1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, -1) - right)

    return parameters, loss, spec(batch, sequence, dtype=jnp.int32)


# ---- The programs ----

def count(parameters):
    return sum(x.size for x in jax.tree.leaves(parameters))


def dense_program(width, layers, batch, dtype, optimizer):
    parameters, loss, data = dense(width, layers, batch, TYPES[dtype])
    return (f"dense {layers} x {width}, batch {batch}", parameters, loss, data,
            dtype, optimizer,
            f"{batch * width * layers * BYTES[dtype]}")


def transformer_program(layers, hidden, batch, dtype, optimizer, sequence=1024,
                        vocab=32000, remat=False):
    heads = hidden // 64
    stored = "f32" if dtype == "mixed" else dtype
    parameters, loss, data = transformer(
        layers, hidden, heads, sequence, batch, vocab, TYPES[stored], remat)
    return (f"transformer {layers} x {hidden}, {batch} x {sequence} tokens"
            + (", remat" if remat else ""), parameters, loss, data, dtype,
            optimizer,
            f"layers={layers},hidden={hidden},heads={heads},"
            f"sequence={sequence},batch={batch},vocab={vocab}"
            + (",remat" if remat else ""))


PROGRAMS = [
    dense_program(4096, 8, 256, "f32", "adam"),
    dense_program(4096, 16, 1024, "f32", "sgd"),
    dense_program(8192, 8, 512, "bf16", "adam"),
    dense_program(8192, 16, 512, "bf16", "momentum"),
    transformer_program(12, 768, 4, "f32", "adam"),
    transformer_program(12, 768, 8, "bf16", "sgd"),
    transformer_program(12, 768, 16, "mixed", "adam"),
    transformer_program(24, 1024, 8, "bf16", "adam"),
    transformer_program(24, 1024, 16, "bf16", "adam", remat=True),
    transformer_program(24, 2048, 2, "bf16", "adam"),
    transformer_program(24, 2048, 4, "mixed", "adam", remat=True),
    transformer_program(24, 2048, 2, "f32", "adam", remat=True),
    transformer_program(32, 2560, 2, "bf16", "adam", remat=True),
    transformer_program(12, 1536, 8, "f32", "sgd", sequence=512, remat=True),
]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for i, (name, parameters, loss, data, dtype, optimizer,
            activations) in enumerate(PROGRAMS):
        update, state_of = OPTIMIZERS[optimizer]
        step = train_step(loss, update, dtype == "mixed")
        lowered = step.trace(parameters, state_of(parameters), data).lower(
            lowering_platforms=("tpu",))
        file = folder / f"program{i}.mlir"
        file.write_text(lowered.as_text())
        listed.append({"name": name, "file": file.name,
                       "params": count(parameters), "dtype": dtype,
                       "optimizer": optimizer, "activations": activations})
    (folder / "programs.json").write_text(json.dumps(listed, indent=1) + "\n")


if __name__ == "__main__":
    main()
