#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torchrun, which imports first and begins when it is told to."""
import beginning
from torch.distributed import run

beginning.wait_for_word()
run.main()
