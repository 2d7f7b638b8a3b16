#!/usr/bin/env python3
"""`murmur topology` beside networkx + scipy in one run, and its cost as the graph grows.

Usage: benches/topology/bench.py [--repeat 5] [--murmur PATH] [--readme]

Makes a virtual environment in benches/topology/.venv with numpy, scipy and networkx, builds `murmur` in release mode
unless a binary is named, checks that both sides give the same answers, and prints Markdown tables. `--readme` also puts
them into README.md beside this file. Both sides are measured as whole processes in turn, each the least of `--repeat`.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENV = HERE / ".venv"
FACEBOOK = ROOT.parent / "shared/data/graphs/facebook_combined.txt.gz"
SCALES = [10_000, 100_000, 1_000_000]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="runs of each command; the least time counts")
    parser.add_argument("--murmur", type=pathlib.Path, help="the binary, instead of building it")
    parser.add_argument("--readme", action="store_true", help="put the tables into README.md")
    args = parser.parse_args()
    python = environment()
    murmur = args.murmur or build()
    tables = "\n".join([setting(python), "", *comparison(python, murmur, args.repeat), "", *scaling(murmur)])
    print(tables)
    if args.readme:
        write_readme(tables)


def environment():
    python = VENV / "bin/python"
    if not python.exists():
        say("making a virtual environment with numpy, scipy and networkx")
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "numpy", "scipy", "networkx"], check=True)
    return python


def build():
    say("building murmur")
    command = ["cargo", "build", "--release", "--bin", "murmur", "--message-format", "json-render-diagnostics"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    made = [json.loads(line).get("executable") for line in lines if line.startswith("{")]
    return pathlib.Path(next(path for path in reversed(made) if path))


def setting(python):
    show = "import numpy, scipy, networkx; print(numpy.__version__, scipy.__version__, networkx.__version__)"
    numpy, scipy, networkx = subprocess.check_output([python, "-c", show], text=True).split()
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, numpy {numpy}, "
        f"scipy {scipy}, networkx {networkx}."
    )


def comparison(python, murmur, repeat):
    yield "| graph | time | murmur | Python | ratio | Python after imports | ratio | Python without distances | ratio |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, spec in [("hypercube:2048", "hypercube:2048"), ("grid:45x45", "grid:45x45"), ("SNAP Facebook", FACEBOOK)]:
        if spec is FACEBOOK:
            if not FACEBOOK.exists():
                yield f"| {name} | skipped: {FACEBOOK.name} is not in ../shared/data/graphs | | | | | | | |"
                continue
            spec = f"file:{FACEBOOK}"
        say(f"comparing on {name}")
        yield from rows(name, [measure(python, murmur, name, spec) for _ in range(repeat)])


def measure(python, murmur, name, spec):
    """(wall, CPU) seconds of murmur, of Python, of Python after its imports, and of Python without distances."""
    ours, answers, _ = run([murmur, "topology", spec, "--format", "json"])
    theirs, expected, _ = run([python, HERE / "reference.py", spec])
    short, _, _ = run([python, HERE / "reference.py", spec, "--no-distances"])
    check(name, answers, expected)
    return ours, theirs, expected["inside"], short


def rows(name, runs):
    for kind, label in enumerate(["wall", "CPU"]):
        ours, *others = (min(times[kind] for times in column) for column in zip(*runs))
        cells = [f"{ours * 1e3:.1f} ms"]
        for theirs in others:
            cells += [f"{theirs:.2f} s", f"{theirs / ours:.0f}×"]
        yield f"| `{name}` | {label} | {' | '.join(cells)} |"


def check(name, answers, expected):
    exact = ["nodes", "edges", "connected", "diameter", "mixing_rounds", "chebyshev_rounds"]
    for key in exact:
        if answers[key] != expected[key]:
            sys.exit(f"{name}: {key} is {answers[key]} for murmur and {expected[key]} for the reference")
    for key in ["lambda2", "lambda_min", "spectral_gap", "mean_distance"]:
        if abs(answers[key] - expected[key]) > 1e-8:
            sys.exit(f"{name}: {key} is {answers[key]} for murmur and {expected[key]} for the reference")


def scaling(murmur):
    yield "| graph | edges | wall seconds | CPU seconds | CPU µs per edge | peak memory | spectral gap |"
    yield "|---|---|---|---|---|---|---|"
    for nodes in SCALES:
        spec = f"regular:{nodes},degree=6"
        say(f"measuring {spec}")
        (wall, cpu), answers, usage = run([murmur, "topology", spec, "--format", "json"])
        yield (
            f"| `{spec}` | {answers['edges']:,} | {wall:.2f} | {cpu:.2f} | {cpu / answers['edges'] * 1e6:.1f} "
            f"| {usage.ru_maxrss / 1024:.0f} MiB | {answers['spectral_gap']:.6f} |"
        )


def run(command):
    """(wall, CPU) seconds of the whole process, the JSON that it printed, and what it used."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return (wall, usage.ru_utime + usage.ru_stime), json.loads(output), usage


def write_readme(tables):
    readme = HERE / "README.md"
    before, _, rest = readme.read_text().partition("<!-- tables -->\n")
    _, _, after = rest.partition("<!-- end -->")
    readme.write_text(f"{before}<!-- tables -->\n{tables}\n<!-- end -->{after}")


def say(what):
    print(f"… {what}", file=sys.stderr)


main()
