#!/usr/bin/env python3
"""Rounds of real processes beside MPI: how near a private, encrypted, crash-proof round comes to a bare sum.

    cargo build --release -p murmur-node && python3 benches/wire/bench.py [rounds] [growth] [processor] [start] [--repeat 2] [--murmur target/release/murmur]

rounds: 8 processes of `murmur swarm`, perceptrons on digits with a batch of 16, with masks and without, and MPI_Allreduce of as many floats by as many processes over loopback TCP
    (Open MPI: apt-get install openmpi-bin libopenmpi-dev). They take turns; medians of the time from one end of a round to the next, at all nodes, and the best of the turns.
growth: the same with 4 to 128 processes and 10^3 to 10^7 numbers, drawn into growth.svg.
processor: processor time of a node and round, masked and not: of a long run less a short one, over the rounds between. For machines that are shared, where other clocks say nothing.
start: `--nodes 128`: from the last process's beginning until all have begun the run, by their logs.

Without Open MPI its columns are left out, and it says so. Prints the tables of README.md.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target"))
# Perceptrons on digits: 64 inputs, 10 classes, so 75 numbers for each hidden unit and 10 more; 650 is softmax.
SIZES = {650: None, 99_985: 1_333, 975_010: 13_000}
GOALS = {650: 5, 99_985: 6, 975_010: 8}


def settings(numbers, rounds, masked):
    hidden = SIZES.get(numbers, round((numbers - 10) / 75))
    model = ["model.kind=mlp", f"model.hidden=[{hidden}]"] if hidden else ["model.kind=softmax"]
    masking = "pairwise" if masked else "none"
    return [*model, f"rounds={rounds}", "batch_size=16", "learning_rate=0.1", "privacy.noise_multiplier=1", f"privacy.masking={masking}"]


def count(numbers):
    """Rounds that are made: many where they are short."""
    return max(12, min(300, 20_000_000 // numbers))


def lines(run, node, event):
    log = (run / "nodes" / str(node) / "log.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, log) if line["event"] == event]


def murmur(program, nodes, words, look=None):
    """The folder's nodes' times between two ends of rounds, in seconds, and when each began."""
    with tempfile.TemporaryDirectory() as folder:
        flags = [flag for word in words for flag in ("--set", word)]
        command = [program, "swarm", "--nodes", str(nodes), "--format", "json", "--out", folder, *flags]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
        run = Path(json.loads(done.stdout)["run"])
        times = []
        for node in range(nodes):
            ends = [line["t"] for line in lines(run, node, "round_done")]
            # The first rounds open files and fill caches.
            times += [(b - a) / 1e6 for a, b in list(zip(ends, ends[1:]))[2:]]
        return times, look(run) if look else None


def mpi(folder):
    """The program, built; `None` where there is no Open MPI."""
    if not (shutil.which("mpicc") and shutil.which("mpirun")):
        return None
    program = Path(folder) / "allreduce"
    subprocess.run(["mpicc", "-O2", "-o", program, HERE / "allreduce.c"], check=True)
    return program


def allreduce(program, nodes, numbers):
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(nodes), "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"]
    done = subprocess.run([*command, program, str(numbers), str(count(numbers))], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])["median"]


def measured(options, program, nodes, numbers):
    """Best medians: masked, plain, MPI."""
    found = {"masked": [], "plain": [], "mpi": []}
    for _ in range(options.repeat):
        for kind in ("masked", "plain"):
            times, _ = murmur(options.murmur, nodes, settings(numbers, count(numbers), kind == "masked"))
            found[kind].append(statistics.median(times))
        if program:
            found["mpi"].append(allreduce(program, nodes, numbers))
    return {kind: min(times, default=None) for kind, times in found.items()}


def rounds(options, program):
    print("| numbers | masked, ms | without masks, ms | MPI_Allreduce, ms | masked / MPI | goal | without masks / MPI | masked / without |\n" + "|---" * 8 + "|")
    for numbers in SIZES:
        one = measured(options, program, 8, numbers)
        ms = [f"{1000 * one[kind]:.2f}" if one[kind] else "–" for kind in ("masked", "plain", "mpi")]
        to_mpi = [f"{one[kind] / one['mpi']:.1f} ×" if one["mpi"] else "–" for kind in ("masked", "plain")]
        cells = [*ms, to_mpi[0], f"{GOALS[numbers]} ×", to_mpi[1], f"{one['masked'] / one['plain']:.2f} ×"]
        print(f"| {numbers:,} | " + " | ".join(cells) + " |", flush=True)


def growth(options, program):
    by_nodes = [(nodes, 650) for nodes in (4, 8, 16, 32, 64, 128)]
    by_numbers = [(8, numbers) for numbers in (1_000, 10_000, 100_000, 1_000_000, 10_000_000)]
    print("| nodes | numbers | masked, ms | without masks, ms | MPI_Allreduce, ms |\n" + "|---" * 5 + "|")
    found = {}
    for nodes, numbers in by_nodes + by_numbers:
        one = found[nodes, numbers] = measured(options, program, nodes, numbers)
        ms = [f"{1000 * one[kind]:.2f}" if one[kind] else "–" for kind in ("masked", "plain", "mpi")]
        print(f"| {nodes} | {numbers:,} | " + " | ".join(ms) + " |", flush=True)
    halves = [("processes, 650 numbers", {n: found[n, d] for n, d in by_nodes}), ("numbers, 8 processes", {d: found[n, d] for n, d in by_numbers})]
    (HERE / "growth.svg").write_text(picture(halves))


def picture(halves):
    """Two drawings side by side, both axes by logarithms."""
    from math import log10

    colours = {"masked": "#c2410c", "plain": "#1d4ed8", "mpi": "#4b5563"}
    names = {"masked": "masked", "plain": "without masks", "mpi": "MPI_Allreduce"}
    values = [1000 * t for _, half in halves for one in half.values() for t in one.values() if t]
    low, high = log10(min(values)) - 0.2, log10(max(values)) + 0.2
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 360" font-family="sans-serif" font-size="12">', '<rect width="880" height="360" fill="white"/>']
    for number, (title, half) in enumerate(halves):
        left, right, top, bottom = 60 + 440 * number, 420 + 440 * number, 30, 310
        first, last = log10(min(half)), log10(max(half))
        x = lambda value: left + 10 + (log10(value) - first) / (last - first) * (right - left - 20)
        y = lambda ms: bottom - (log10(ms) - low) / (high - low) * (bottom - top)
        parts.append(f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" fill="none" stroke="#9ca3af"/>')
        for power in range(-2, 5):
            if low <= power <= high:
                parts.append(f'<path d="M{left} {y(10**power):.1f}H{right}" stroke="#e5e7eb"/><text x="{left - 6}" y="{y(10**power) + 4:.1f}" text-anchor="end">{10**power:g}</text>')
        parts += [f'<text x="{x(value):.1f}" y="{bottom + 16}" text-anchor="middle">{value:,}</text>' for value in half]
        parts.append(f'<text x="{(left + right) / 2}" y="{bottom + 36}" text-anchor="middle">{title}</text>')
        for row, (kind, colour) in enumerate(colours.items()):
            points = [(x(value), y(1000 * one[kind])) for value, one in half.items() if one[kind]]
            if not points:
                continue
            line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
            parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
            parts.append(f'<text x="{left + 12}" y="{top + 18 + 16 * row}" fill="{colour}">{names[kind]}</text>')
    parts.append('<text x="14" y="170" transform="rotate(-90 14 170)" text-anchor="middle">a round, ms</text></svg>')
    return "\n".join(parts) + "\n"


def used(program, nodes, words):
    """Processor seconds of a run, all processes together."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    murmur(program, nodes, words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def processor(options, _):
    nodes = 8
    print("| numbers | masked, ms a node and round | without masks, ms | masked / without |\n" + "|---" * 4 + "|")
    for numbers in SIZES:
        short, long = 4, 4 + max(8, count(numbers) * 2 // 3)
        best = {}
        for _ in range(options.repeat):
            for masked in (True, False):
                for rounds in (short, long):
                    took = used(options.murmur, nodes, settings(numbers, rounds, masked))
                    best[masked, rounds] = min(took, best.get((masked, rounds), took))
        ms = [1000 * (best[masked, long] - best[masked, short]) / (long - short) / nodes for masked in (True, False)]
        print(f"| {numbers:,} | {ms[0]:.2f} | {ms[1]:.2f} | {ms[0] / ms[1]:.2f} × |", flush=True)


def stamp(log, words, last=False):
    """When a line with these words was written, in seconds since 1970."""
    found = [line.split()[0] for line in log.read_text().splitlines() if words in line]
    if not found:
        return float("nan")
    bare = found[-1 if last else 0].replace("\x1b[2m", "").replace("\x1b[0m", "")
    return datetime.fromisoformat(bare.replace("Z", "+00:00")).timestamp()


def start(options, _):
    nodes = 128
    words = ["rounds=2", "privacy.noise_multiplier=1", f"data=blobs:nodes={nodes},records=20,dim=64,classes=10"]
    print("| processes | last one listens, s after the command | all have begun, s after that |\n|---|---|---|")
    for _ in range(options.repeat):
        began = time.time()

        def look(run):
            logs = [run / "nodes" / str(node) / "stderr.log" for node in range(nodes)]
            last = max(stamp(log, "listening") for log in logs)
            return last - began, max(stamp(log, "the run begins") for log in logs) - last

        _, (came, wait) = murmur(options.murmur, nodes, words, look)
        print(f"| {nodes} | {came:.1f} | {wait:.1f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--murmur", default=TARGET / "release" / "murmur")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = mpi(folder)
        if not program:
            print("Open MPI is not installed: its columns are left out\n")
        for part in options.parts or ["rounds", "growth", "processor", "start"]:
            {"rounds": rounds, "growth": growth, "processor": processor, "start": start}[part](options, program)
            print()
