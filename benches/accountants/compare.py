#!/usr/bin/env python3
"""Times epsilon by privacy-loss distribution: ours against dp-accounting 0.6.0, as ratios in one run.

Usage, from the root of the repository:
  python3 -m venv benches/accountants/.venv
  benches/accountants/.venv/bin/pip install dp-accounting==0.6.0
  cargo build --release && cargo bench -p privacy --bench accountants --no-run
  benches/accountants/.venv/bin/python benches/accountants/compare.py

Ours is measured twice: as a whole process (`murmur privacy account --accountant pld`, start-up and printing included)
and in-process (`cargo bench -p privacy --bench accountants`). dp-accounting is measured in-process, imports excluded, with
its default discretisation (1e-4), connect-the-dots, as its own documentation recommends.
"""
import json
import os
import statistics
import subprocess
import sys
import time
from importlib.metadata import version

from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant

TARGET = os.environ.get("CARGO_TARGET_DIR", "target")
MURMUR = sys.argv[1] if len(sys.argv) > 1 else f"{TARGET}/release/murmur"


def median_seconds(runs, call):
    times, value = [], None
    for _ in range(runs):
        start = time.perf_counter()
        value = call()
        times.append(time.perf_counter() - start)
    return statistics.median(times), value


def theirs(rate, sigma, steps, delta):
    accountant = PLDAccountant()
    accountant.compose(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma)), steps)
    return accountant.get_epsilon(delta)


def ours(rate, sigma, steps, delta):
    event = f"gaussian:sigma={sigma},rate={rate},count={steps}"
    command = [MURMUR, "privacy", "account", "--event", event, "--delta", str(delta), "--accountant", "pld"]
    output = subprocess.run(command + ["--format", "json"], check=True, capture_output=True, text=True).stdout
    return json.loads(output)["accountants"][0]["epsilon"]


def main():
    bench = subprocess.run(
        ["cargo", "bench", "-q", "-p", "privacy", "--bench", "accountants"], check=True, capture_output=True, text=True
    ).stdout
    print(f"dp-accounting {version('dp-accounting')}, Python {sys.version.split()[0]}, {os.cpu_count()} cores\n")
    print("| q | σ | steps | δ | dp-accounting ε | ms | murmur ε | process ms | in-process ms | ratio process | ratio in-process |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for line in bench.splitlines():
        if not line.startswith("{"):
            continue
        case = json.loads(line)
        setting = (case["rate"], case["sigma"], case["steps"], case["delta"])
        their_time, their_epsilon = median_seconds(3, lambda: theirs(*setting))
        our_time, our_epsilon = median_seconds(5, lambda: ours(*setting))
        inner = case["pld_ms"]
        print(
            f"| {setting[0]:.6g} | {setting[1]} | {setting[2]:,} | {setting[3]:g} | {their_epsilon:.6f} | {their_time * 1e3:.0f} "
            f"| {our_epsilon:.6f} | {our_time * 1e3:.1f} | {inner:.2f} | {their_time / our_time:.0f} | {their_time * 1e3 / inner:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
