#!/usr/bin/env python3
"""Times epsilon by privacy-loss distribution: ours against dp-accounting 0.6.0, as ratios in one run.

Usage, from the root of the repository:
  python3 -m venv benches/accountants/.venv
  benches/accountants/.venv/bin/pip install dp-accounting==0.6.0
  cargo build --release && cargo bench -p murmuration-privacy --bench accountants --no-run
  benches/accountants/.venv/bin/python benches/accountants/compare.py

Ours is measured twice: as a whole process (`murmur privacy account --accountant pld`, start-up and printing included)
and in-process (`cargo bench -p murmuration-privacy --bench accountants`). dp-accounting is measured in-process, imports excluded, with
its default discretisation (1e-4), connect-the-dots. Wall clock and CPU time are both given: CPU time does not depend on
what else the machine does. `compare.py MURMUR LINES` takes another binary, and a file with the benchmark's lines.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from importlib.metadata import version

from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant

TARGET = os.environ.get("CARGO_TARGET_DIR", "target")
MURMUR = sys.argv[1] if len(sys.argv) > 1 else f"{TARGET}/release/murmur"


def cpu_seconds():
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def medians(runs, call):
    """Median wall clock and CPU milliseconds of a call, and its value."""
    wall, cpu, value = [], [], None
    for _ in range(runs):
        start, cpu_start = time.perf_counter(), cpu_seconds()
        value = call()
        wall.append(1e3 * (time.perf_counter() - start))
        cpu.append(1e3 * (cpu_seconds() - cpu_start))
    return statistics.median(wall), statistics.median(cpu), value


def theirs(rate, sigma, steps, delta):
    accountant = PLDAccountant()
    accountant.compose(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma)), steps)
    return accountant.get_epsilon(delta)


def ours(rate, sigma, steps, delta):
    event = f"gaussian:sigma={sigma},rate={rate},count={steps}"
    command = [MURMUR, "privacy", "account", "--event", event, "--delta", str(delta), "--accountant", "pld"]
    output = subprocess.run(command + ["--format", "json"], check=True, capture_output=True, text=True).stdout
    return json.loads(output)["accountants"][0]["epsilon"]


def bench_lines():
    if len(sys.argv) > 2:
        return open(sys.argv[2]).read().splitlines()
    command = ["cargo", "bench", "-q", "-p", "murmuration-privacy", "--bench", "accountants"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    cases = [json.loads(line) for line in bench_lines() if line.startswith("{")]
    print(f"dp-accounting {version('dp-accounting')}, Python {sys.version.split()[0]}, {os.cpu_count()} cores\n")
    print("| q | σ | steps | δ | dp-accounting ε | wall ms | CPU ms | murmur ε | process wall ms | process CPU ms | in-process wall ms | ratio wall | ratio CPU |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for case in cases:
        setting = (case["rate"], case["sigma"], case["steps"], case["delta"])
        their_wall, their_cpu, their_epsilon = medians(3, lambda: theirs(*setting))
        our_wall, our_cpu, our_epsilon = medians(5, lambda: ours(*setting))
        print(
            f"| {setting[0]:.6g} | {setting[1]} | {setting[2]:,} | {setting[3]:g} "
            f"| {their_epsilon:.6f} | {their_wall:.0f} | {their_cpu:.0f} "
            f"| {our_epsilon:.6f} | {our_wall:.1f} | {our_cpu:.1f} | {case['pld_ms']:.1f} "
            f"| {their_wall / our_wall:.0f} | {their_cpu / our_cpu:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
