#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torchrun starts: a group of Gloo, and one all-reduce of 4 MB."""
import start_signal
import torch
import torch.distributed as dist

FLOATS = 1 << 20

dist.init_process_group("gloo")
tensor = torch.ones(FLOATS)
dist.all_reduce(tensor)
assert float(tensor[0]) == dist.get_world_size()
start_signal.stay()
