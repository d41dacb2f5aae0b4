#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torchrun, which imports first and starts on a line of its input."""
import start_signal
from torch.distributed import run

start_signal.wait_for_start()
run.main()
