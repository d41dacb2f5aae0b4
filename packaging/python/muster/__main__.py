# SPDX-License-Identifier: Apache-2.0
"""python3 -m muster"""
from ._program import main

main()
