#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ordinary PyTorch program: ranks add what they have, and one may fail.

    all_reduce_program.py [RANK_THAT_FAILS]
"""
import os
import sys

import torch
import torch.distributed as dist

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
total = torch.full((1 << 16,), float(rank + 1))
dist.all_reduce(total)
print(f"rank {rank} of {world} on {os.uname().nodename}: "
      f"sum {total.min().item():.0f} to {total.max().item():.0f}", flush=True)
if sys.argv[1:] == [str(rank)]:
    sys.exit(7)
dist.all_reduce(total)  # for which a rank that failed is missing
dist.destroy_process_group()
