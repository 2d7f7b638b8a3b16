#!/usr/bin/env python3
"""What range proofs cost: processor seconds and bytes for 64 and 1,024 numbers of 32 bits, 8 and 16 members.

    python3 benches/proofs/bench.py

Processor time of one thread, so that other programs on the machine count little; beside it the ratio to the product of a point and a number, measured in the same run.
"""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    build = ["cargo", "run", "--release", "--quiet", "--package", "murmuration-proofs", "--example", "times"]
    subprocess.run(build, cwd=ROOT, check=True)
