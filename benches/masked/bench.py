#!/usr/bin/env python3
"""Masked rounds beside plain ones and a curator: accuracy at equal ε, and time.

    python3 benches/masked/bench.py [--murmur target/release/murmur] [--seeds 8] [--only accuracy|swarm|time] [--nodes 8,64] [--parameters 650,100000]

Accuracy on digits, mean and spread over seeds, all from the same program. `masked (one)` is planned against one member, `masked (third)` against fewer than a
third together, which costs √(n/(n−c)) more noise; plain rounds and the curator have no such choice. `--only swarm` makes the runs of eight members with real processes, whose noise has no seed. Times are those of
`sim/examples/masked_round.rs`, beside the program (`cargo build --release -p murmuration-sim --example masked_round`), where the kinds take turns.
"""

import argparse
import json
import pathlib
import subprocess

STORY = ["learning_rate=2", "rounds=160"]
PLANS = {
    "plain": ["privacy.masking=none"],
    "masked (third)": ["privacy.masking=pairwise"],
    "masked (one)": ["privacy.masking=pairwise", "privacy.colluders=1"],
    "central": ["algorithm.kind=central"],
}


def murmur(program, kind, pairs, *more):
    flags = [flag for pair in pairs for flag in ("--set", pair)]
    done = subprocess.run([program, kind, *flags, *more, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def accuracy(program, nodes, epsilon, plan, seeds, kind="sim"):
    pairs = STORY + [f"nodes={nodes}", f"privacy.epsilon={epsilon}"] + PLANS[plan]
    found = [murmur(program, kind, pairs + [f"seed={seed}"], "--out", "target/benches/runs")["test_acc"] for seed in range(101, 101 + seeds)]
    mean = sum(found) / len(found)
    spread = (sum((one - mean) ** 2 for one in found) / max(len(found) - 1, 1)) ** 0.5
    return mean, spread


def times(options):
    program = pathlib.Path(options.murmur).parent / "examples" / "masked_round"
    flags = [f"turns={options.turns}", f"nodes={options.nodes}", f"parameters={options.parameters}"]
    done = subprocess.run([program, *flags], capture_output=True, text=True, check=True)
    print("| nodes | parameters | masked by doubling / plain | by halving / plain | bytes a member: plain | doubling | halving |\n" + "|---" * 7 + "|")
    for line in done.stdout.splitlines():
        row = json.loads(line)
        ratios = [f"{row[f'{kind}_to_plain']:.2f} ×" for kind in ("doubling", "halving")]
        sizes = [f"{row[f'{kind}_bytes']:,}" for kind in ("plain", "doubling", "halving")]
        print(f"| {row['nodes']} | {row['parameters']:,} | " + " | ".join(ratios + sizes) + " |")


def accuracies(options, sizes, kind):
    print("| nodes | ε | " + " | ".join(PLANS) + " | gaps of masked (one) and (third) to central |")
    print("|---|---|" + "---|" * (len(PLANS) + 1))
    for nodes in sizes:
        for epsilon in (1, 2):
            of = lambda plan: "sim" if plan == "central" else kind
            found = {plan: accuracy(options.murmur, nodes, epsilon, plan, options.seeds, of(plan)) for plan in PLANS}
            cells = [f"{100 * mean:.1f} ± {100 * spread:.1f} %" for mean, spread in found.values()]
            gaps = [f"{100 * (found['central'][0] - found[plan][0]):.2f}" for plan in ("masked (one)", "masked (third)")]
            print(f"| {nodes} | {epsilon} | " + " | ".join(cells) + " | " + ", ".join(gaps) + " points |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--murmur", default="target/release/murmur")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", choices=["accuracy", "swarm", "time"])
    parser.add_argument("--nodes", default="8,64", help="of the times")
    parser.add_argument("--parameters", default="650,100000", help="of the times")
    options = parser.parse_args()
    if options.only in (None, "accuracy"):
        accuracies(options, (8, 64), "sim")
    if options.only == "swarm":
        accuracies(options, (8,), "swarm")
    if options.only in (None, "time"):
        times(options)


if __name__ == "__main__":
    main()
