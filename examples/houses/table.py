#!/usr/bin/env python3
"""Makes the table of this example: accuracy of central, network (walk, rounds) and local at equal epsilon.

    examples/houses/table.py DATA [--murmur target/release/murmur] [--seeds 8] [--nodes 2000]

DATA is houses.csv.gz. Step sizes were chosen for each algorithm on seed 101, which is not among the seeds of the table.
"""
import argparse
import json
import pathlib
import statistics
import subprocess

HERE = pathlib.Path(__file__).parent
ALGORITHMS = {
    "central": ["algorithm.kind=central", "learning_rate=150"],
    "walk": ["algorithm.kind=walk", "optimiser.kind=sgd", "learning_rate=0.1", "rounds=10",
             "privacy.clip_norm=1", "privacy.target=mean"],
    "rounds": ["algorithm.kind=rounds", "learning_rate=60"],
    "local": ["algorithm.kind=local", "learning_rate=60", "rounds=30"],
}


def runs(arguments, name, epsilon):
    source = next(line for line in (HERE / "houses.toml").read_text().splitlines() if line.startswith("data"))
    keys = source.split('"')[1].split(":", 1)[1]
    command = [arguments.murmur, "sim", str(HERE / "houses.toml"), "--seeds", str(arguments.seeds), "--format", "json"]
    for pair in ALGORITHMS[name] + [f"privacy.epsilon={epsilon}", f"nodes={arguments.nodes}",
                                    f"data={arguments.data}:{keys}"]:
        command += ["--set", pair]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)["runs"]


def cell(values, digits):
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.fmean(values):.{digits}f} ± {spread:.{digits}f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--murmur", default="target/release/murmur")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--nodes", type=int, default=2000)
    arguments = parser.parse_args()
    print("| ε | algorithm | accuracy % | ε worst pair | ε mean pair | ε local | analysis |")
    print("|---|---|---|---|---|---|---|")
    for epsilon in (10, 1):
        accuracy = {}
        for name in ALGORITHMS:
            done = runs(arguments, name, epsilon)
            accuracy[name] = [100 * run["test_acc"] for run in done]
            figure = lambda scope: max(run["privacy"][scope]["epsilon"] or float("inf") for run in done)
            shown = [f"{figure(scope):.3g}" for scope in ("worst", "mean", "local")]
            print(f"| {epsilon} | {name} | {cell(accuracy[name], 1)} | {' | '.join(shown)} | "
                  f"{done[0]['privacy']['mean']['analysis']} |", flush=True)
        gap = statistics.fmean(accuracy["central"]) - statistics.fmean(accuracy["local"])
        closed = statistics.fmean(accuracy["rounds"]) - statistics.fmean(accuracy["local"])
        print(f"\nAt ε = {epsilon} `rounds` closes {100 * closed / gap:.0f} % of the gap between local and central.\n", flush=True)


if __name__ == "__main__":
    main()
