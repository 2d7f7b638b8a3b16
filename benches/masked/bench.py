#!/usr/bin/env python3
"""Masked rounds beside plain ones and a curator: accuracy at equal ε, and time.

    python3 benches/masked/bench.py [--murmur target/release/murmur] [--seeds 8]

Accuracy on digits, mean and spread over seeds, all from the same program. `masked (one)` is planned against one member, `masked (third)` against fewer than a
third together, which costs √(n/(n−c)) more noise; plain rounds and the curator have no such choice. Times of plain and masked take turns.
"""

import argparse
import json
import subprocess
import time

STORY = ["learning_rate=2", "rounds=160"]
PLANS = {
    "plain": ["privacy.masking=none"],
    "masked (third)": ["privacy.masking=pairwise"],
    "masked (one)": ["privacy.masking=pairwise", "privacy.colluders=1"],
    "central": ["algorithm.kind=central"],
}


def murmur(program, pairs, *more):
    flags = [flag for pair in pairs for flag in ("--set", pair)]
    done = subprocess.run([program, "sim", *flags, *more, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def accuracy(program, nodes, epsilon, plan, seeds):
    pairs = STORY + [f"nodes={nodes}", f"privacy.epsilon={epsilon}"] + PLANS[plan]
    found = [murmur(program, pairs + [f"seed={seed}"], "--out", "target/benches/runs")["test_acc"] for seed in range(101, 101 + seeds)]
    mean = sum(found) / len(found)
    spread = (sum((one - mean) ** 2 for one in found) / max(len(found) - 1, 1)) ** 0.5
    return mean, spread


def seconds(program, nodes, plan, rounds=20):
    pairs = [f"nodes={nodes}", f"rounds={rounds}", "privacy.noise_multiplier=1"] + PLANS[plan]
    start = time.monotonic()
    murmur(program, pairs, "--out", "target/benches/runs")
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--murmur", default="target/release/murmur")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    print("| nodes | ε | " + " | ".join(PLANS) + " | gap of masked (one) to central |")
    print("|---|---|" + "---|" * (len(PLANS) + 1))
    for nodes in (8, 64):
        for epsilon in (1, 2):
            found = {plan: accuracy(options.murmur, nodes, epsilon, plan, options.seeds) for plan in PLANS}
            cells = [f"{100 * mean:.1f} ± {100 * spread:.1f} %" for mean, spread in found.values()]
            gap = 100 * (found["central"][0] - found["masked (one)"][0])
            print(f"| {nodes} | {epsilon} | " + " | ".join(cells) + f" | {gap:.1f} points |", flush=True)
    print("\n| nodes | masked / plain, whole simulation |\n|---|---|")
    for nodes in (8, 64, 128):
        turns = [(seconds(options.murmur, nodes, "masked (third)"), seconds(options.murmur, nodes, "plain")) for _ in range(options.turns)]
        masked, plain = (min(column) for column in zip(*turns))
        print(f"| {nodes} | {masked / plain:.2f} × |", flush=True)


if __name__ == "__main__":
    main()
