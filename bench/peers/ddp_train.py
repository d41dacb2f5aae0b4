#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fashion-MNIST with PyTorch's DistributedDataParallel over Gloo.

What `make bench` sets muster against, written to be fast: the data in memory
as one tensor, batches by index, one thread and one core per worker, no
DataLoader. Started by torchrun, or alone as a training of one process.

Each rank writes DIR/rankN: a line "PID STEP SECONDS" (CLOCK_MONOTONIC) after
its first step and after every 20th.
"""
import argparse
import gzip
import os
import pathlib
import time

import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

TRACE_EVERY = 20


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=("mlp", "cnn"), default="mlp")
    parser.add_argument("--batch", type=int, default=64, help="per worker")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=pathlib.Path,
                        default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--trace", type=pathlib.Path, help="a folder")
    parser.add_argument("--checkpoint", type=pathlib.Path, help="a file")
    parser.add_argument("--every", type=int, default=100,
                        help="steps between two checkpoints")
    parser.add_argument("--tuned", action="store_true",
                        help="fused Adam, channels-last tensors")
    return parser.parse_args()


def read_idx(path, header):
    """The bytes of a gzipped IDX file after its header, as an array."""
    with gzip.open(path) as file:
        return numpy.frombuffer(file.read(), dtype=numpy.uint8, offset=header)


def load(folder):
    """All training images (N x 1 x 28 x 28, 0 to 1) and labels, in memory."""
    images = read_idx(folder / "train-images-idx3-ubyte.gz", 16)
    labels = read_idx(folder / "train-labels-idx1-ubyte.gz", 8)
    images = torch.from_numpy(images.reshape(-1, 1, 28, 28).copy())
    return (images.to(torch.float32).div_(255),
            torch.from_numpy(labels.astype(numpy.int64)))


def make_model(name):
    if name == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(),
                             nn.Linear(128, 10))
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 5 * 5, 128), nn.ReLU(),
        nn.Linear(128, 10))


class Trace:
    """Writes when steps were done."""

    def __init__(self, folder, rank):
        self.file = None
        self.done = 0
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self.file = open(folder / f"rank{rank}", "a", buffering=1)

    def step(self, step):
        self.done += 1
        if self.file and (self.done == 1 or step % TRACE_EVERY == 0):
            self.file.write(f"{os.getpid()} {step} {time.monotonic():.6f}\n")


def save(path, step, model, optimizer):
    """Whole or not at all, as every training script does it."""
    made = path.with_suffix(".new")
    torch.save({"step": step, "model": model.state_dict(),
                "optimizer": optimizer.state_dict()}, made)
    os.replace(made, path)


def resume(path, model, optimizer):
    """The step to go on from."""
    if path is None or not path.exists():
        return 0
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"]


class Batches:
    """This rank's part of the batch of every step."""

    def __init__(self, arguments, rank, world):
        self.images, self.labels = load(arguments.data)
        if arguments.tuned:
            self.images = self.images.contiguous(
                memory_format=torch.channels_last)
        self.batch, self.seed = arguments.batch, arguments.seed
        self.rank, self.world = rank, world
        self.steps = len(self.labels) // (self.batch * world)
        self.epoch = None
        self.order = None

    def at(self, step):
        epoch, within = divmod(step, self.steps)
        if epoch != self.epoch:
            generator = torch.Generator().manual_seed(self.seed + epoch)
            self.order = torch.randperm(len(self.labels), generator=generator)
            self.epoch = epoch
        first = (within * self.world + self.rank) * self.batch
        index = self.order[first:first + self.batch]
        return self.images[index], self.labels[index]


def layout_of(model):
    """How the weights of convolutions lie in memory, and with them the
    images."""
    strided = any(parameter.dim() == 4 and not parameter.is_contiguous()
                  for parameter in model.parameters())
    return "channels last" if strided else "contiguous"


def train(arguments, rank, world):
    torch.manual_seed(arguments.seed)
    model = make_model(arguments.model)
    if arguments.tuned:
        model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3,
                                 fused=arguments.tuned or None)
    begin = resume(arguments.checkpoint, model, optimizer)
    replica = model
    if world > 1:
        replica = DistributedDataParallel(model, gradient_as_bucket_view=True)
    batches = Batches(arguments, rank, world)
    trace = Trace(arguments.trace, rank)
    for step in range(begin, arguments.steps):
        images, labels = batches.at(step)
        optimizer.zero_grad()
        loss = functional.cross_entropy(replica(images), labels)
        loss.backward()
        optimizer.step()
        trace.step(step + 1)
        if (arguments.checkpoint and rank == 0
                and (step + 1) % arguments.every == 0):
            save(arguments.checkpoint, step + 1, model, optimizer)
    if rank == 0:
        print(f"step {arguments.steps}, loss {loss.item():.4f}\n"
              f"layout: {layout_of(model)}")


def main():
    arguments = parse_arguments()
    rank = int(os.environ.get("RANK", "0"))
    world = int(os.environ.get("WORLD_SIZE", "1"))
    torch.set_num_threads(1)
    if world > 1:
        cores = sorted(os.sched_getaffinity(0))
        local = int(os.environ["LOCAL_RANK"])
        os.sched_setaffinity(0, {cores[local % len(cores)]})
        dist.init_process_group("gloo")
    train(arguments, rank, world)
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
