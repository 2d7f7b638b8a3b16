#!/usr/bin/env python3
"""Questions with masks, by gossip and without trust beside each other, and OpenDP as the curator that everybody would trust: same records, same (ε, δ), one run.

    python3 -m venv target/bench-venv && target/bench-venv/bin/pip install opendp==0.16.0
    cargo build --release -p murmur-node && target/bench-venv/bin/python benches/questions/bench.py [--data DIR] [--seeds 20]

Each figure is the root of the mean squared distance to the truth over so many seeds (of a median: in ranks; of a curve or a histogram: over all of its points).
Adult and the hospital charges are read from DIR (docs/BENCHMARKS.md says where they come from); without it both are left out and made records take their place.
"""

import argparse
import bisect
import csv
import gzip
import json
import math
import os
import random
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

import opendp.prelude as dp

dp.enable_features("contrib")
EPSILON, DELTA, NODES = 1.0, 1e-5, 64
TARGET = os.environ.get("CARGO_TARGET_DIR", "target")


def murmur(program, question, file, columns, trust, colluders, seed):
    """The raw figure and the truth of one simulated question."""
    command = [program, "ask", question, "--try", file, "--nodes", str(NODES), "--epsilon", str(EPSILON), "--seed", str(seed)]
    command += ["--trust", trust, "--yes", "--format", "json"]
    if trust == "masked":
        command += ["--colluders", str(colluders)]
    for column in columns:
        command += ["--column", column]
    answers = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["rows"][0]["answers"]
    (answer,) = answers.values()
    return answer["raw"], answer["truth"]


def central(measurement, sensitivity=1):
    """The least noise with which OpenDP's Gaussian is (ε, δ)-differentially private."""
    made = lambda scale: dp.c.make_zCDP_to_approxDP(measurement(scale))
    loss = lambda scale: made(scale).map(sensitivity).epsilon(DELTA)
    low, high = 1e-3, 1e6
    for _ in range(80):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if loss(middle) <= EPSILON else (middle, high)
    return measurement(high)


def opendp_count(values):
    domain = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    release = central(lambda scale: domain >> dp.t.then_count() >> dp.m.then_gaussian(scale))
    return lambda: release([0] * len(values))


def opendp_mean(values, low, high):
    """Sum and count of one release: both numbers of (a, 1 - a), as ours has them, each with half of the budget."""
    half = EPSILON / 2
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    shifted = [min(max(value, low), high) - low for value in values]

    def least(measurement):
        loss = lambda scale: dp.c.make_zCDP_to_approxDP(measurement(scale)).map(1).epsilon(DELTA / 2)
        a, b = 1e-3, 1e7
        for _ in range(80):
            middle = math.sqrt(a * b)
            a, b = (a, middle) if loss(middle) <= half else (middle, b)
        return measurement(b)

    total = least(lambda scale: domain >> dp.t.then_clamp((0.0, high - low)) >> dp.t.then_sum() >> dp.m.then_gaussian(scale))
    count = least(lambda scale: domain >> dp.t.then_count() >> dp.m.then_gaussian(scale))
    return lambda: low + total(shifted) / count(shifted)


def opendp_histogram(values, categories):
    domain = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    counted = domain >> dp.t.then_count_by_categories(categories, null_category=True, MO=dp.L2Distance[int])
    release = central(lambda scale: counted >> dp.m.then_gaussian(scale))
    return lambda: list(release(values))[: len(categories)]


def opendp_median(values, low, high, bins):
    """The exponential mechanism over as many candidates as ours has bins."""
    candidates = [low + (high - low) * (i + 0.5) / bins for i in range(bins)]
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    scored = domain >> dp.t.then_quantile_score_candidates(candidates, 0.5)
    pick = lambda scale: scored >> dp.m.then_noisy_max(dp.max_divergence(), scale, negate=True)
    release = dp.binary_search_chain(pick, d_in=1, d_out=EPSILON, bounds=(1e-6, 1e6))
    return lambda: candidates[release(values)]


def read(path, column):
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)
    with opened as file:
        return [row[column] for row in csv.DictReader(file)]


def made_lives(folder):
    """10,000 lives with a constant hazard, of which a part is still under way."""
    path, rng = Path(folder) / "lives.csv", random.Random(7)
    with open(path, "w") as file:
        file.write("days,died\n")
        for _ in range(10_000):
            life, seen = rng.expovariate(1 / 900), rng.uniform(0, 2400)
            file.write(f"{min(life, seen, 1999):.1f},{int(life < seen)}\n")
    return str(path)


def rms(distances):
    return math.sqrt(sum(d * d for d in distances) / len(distances))


def spread(found, truth):
    """Distances of two figures or two lists."""
    if found is None:
        return []
    if isinstance(truth, list):
        return [a - b for a, b in zip(found, truth) if a is not None]
    return [found - truth]


def measured(args, case):
    """A row: each kind of trust, and the curator."""
    cells = []
    for trust, colluders in [("masked", 0), ("masked", 21), ("gossip", 0), ("local", 0)]:
        distances = []
        try:
            for seed in range(1, args.seeds + 1):
                found = murmur(args.murmur, case["question"], case["file"], case["columns"], trust, colluders, seed)
                distances += case.get("distance", spread)(*found)
            cells.append(f"{rms(distances):.{case['digits']}f}" if distances else "too few")
        except subprocess.CalledProcessError:
            cells.append("-")
    if case.get("opendp"):
        truth = murmur(args.murmur, case["question"], case["file"], case["columns"], "masked", 0, 1)[1]
        release = case["opendp"]()
        distances = []
        for _ in range(10 * args.seeds):
            distances += case.get("distance", spread)(release(), truth)
        cells.append(f"{rms(distances):.{case['digits']}f}")
    else:
        cells.append("-")
    return cells


def cases(args, folder):
    lives = made_lives(folder)
    yield {
        "name": "survival of 10,000", "question": "SELECT survival(days, died) FROM swarm", "file": lives,
        "columns": ["days:bounds=0..2000", "died:values=0+1"], "digits": 4,
    }
    if not args.data:
        return
    adult, charges = (str(Path(args.data) / name) for name in ["adult.csv.gz", "hospital_charges.csv.gz"])
    ages = [float(age) for age in read(adult, "age")]
    rows = len(ages)
    yield {"name": "count of Adult", "question": "SELECT count(*) FROM swarm", "file": adult, "columns": [], "digits": 1, "opendp": lambda: opendp_count(ages)}
    yield {
        "name": "mean age of Adult", "question": "SELECT mean(age) FROM swarm", "file": adult, "columns": ["age:bounds=0..100"], "digits": 4,
        "opendp": lambda: opendp_mean(ages, 0.0, 100.0),
    }
    sexes = read(adult, "sex")
    yield {
        "name": "histogram of sex", "question": "SELECT histogram(sex) FROM swarm", "file": adult, "columns": ["sex:values=Female+Male"], "digits": 1,
        "opendp": lambda: opendp_histogram(sexes, ["Female", "Male"]),
    }
    payments = [float(x) for x in read(charges, "avg_total_payments")]
    ordered = sorted(payments)
    middle = (len(ordered) + 1) // 2
    ranks = lambda found, truth: [] if found is None else [bisect.bisect_right(ordered, found) - middle]
    yield {
        "name": "median payment (ranks)", "question": "SELECT median(avg_total_payments) FROM swarm", "file": charges,
        "columns": ["avg_total_payments:bounds=0..60000,fill=0"], "digits": 0, "distance": ranks,
        "opendp": lambda: opendp_median(payments, 0.0, 60000.0, 256),
    }
    # Whole numbers have up to 1,024 bins.
    yield {
        "name": "median payment (dollars)", "question": "SELECT median(avg_total_payments) FROM swarm", "file": charges,
        "columns": ["avg_total_payments:bounds=0..60000,integer"], "digits": 0,
        "opendp": lambda: opendp_median(payments, 0.0, 60000.0, 1024),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--murmur", default=f"{TARGET}/release/murmur")
    parser.add_argument("--data", help="folder with adult.csv.gz and hospital_charges.csv.gz")
    parser.add_argument("--seeds", type=int, default=20)
    args = parser.parse_args()
    print(f"ε = {EPSILON:g}, δ = {DELTA:g}, {NODES} members, {args.seeds} seeds, OpenDP {version('opendp')}\n")
    print("| question | masked, all honest | masked, a third may collude | gossip | local | OpenDP, a curator |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(args, folder):
            print(f"| {case['name']} | " + " | ".join(measured(args, case)) + " |", flush=True)


if __name__ == "__main__":
    main()
