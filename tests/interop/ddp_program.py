#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ordinary PyTorch program: DistributedDataParallel, checkpoints, resume.

Knows nothing of muster. Any launcher that sets RANK, WORLD_SIZE, MASTER_ADDR
and MASTER_PORT can start it.

    ddp_program.py CHECKPOINT [STEPS]
"""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

BATCH = 64
SAVE_EVERY = 50


def make_data():
    """Ten clouds of points that a small network can tell apart."""
    generator = torch.Generator().manual_seed(7)
    centres = torch.randn(10, 64, generator=generator)
    labels = torch.randint(10, (4096,), generator=generator)
    noise = torch.randn(4096, 64, generator=generator)
    return centres[labels] + 0.5 * noise, labels


def save(path, step, model, optimizer):
    torch.save({"step": step, "model": model.state_dict(),
                "optimizer": optimizer.state_dict()}, path + ".new")
    os.replace(path + ".new", path)


def resume(path, model, optimizer):
    if not os.path.exists(path):
        return 0
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"]


def train(path, steps):
    rank, world = dist.get_rank(), dist.get_world_size()
    points, labels = make_data()
    torch.manual_seed(1)
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    begin = resume(path, model.module, optimizer)
    if rank == 0 and begin:
        print(f"resumed at step {begin}", flush=True)
    loss = torch.zeros(())  # of a run that had nothing left to do
    for step in range(begin, steps):
        index = torch.randperm(
            len(labels), generator=torch.Generator().manual_seed(step))
        mine = index[rank:world * BATCH:world]
        loss = functional.cross_entropy(model(points[mine]), labels[mine])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and (step + 1) % SAVE_EVERY == 0:
            save(path, step + 1, model.module, optimizer)
    if rank == 0:
        print(f"finished step {steps}, loss {loss.item():.4f}", flush=True)


def main():
    path = sys.argv[1]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 800
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    train(path, steps)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
