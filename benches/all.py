#!/usr/bin/env python3
"""All comparisons with other programs that this machine can run, one after the other.

    benches/all.py [topology] [accountants] [network] [learn] [sim] [wire] [masked] [proofs] [questions] [python] [swarm]      all of them without a word

Builds what they measure in release mode, makes virtual environments under target/ and installs the peers from PyPI into them. A peer that cannot be
installed is named and its part left out. The tables go to target/benches/NAME.md; docs/BENCHMARKS.md says what to expect. Give it a quiet machine: about an hour.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
VENV = TARGET / "bench-venv"
PYTHON = VENV / "bin" / "python"

# Name: what to build, what must be importable (and the package that brings it), what to run.
MURMUR = ["cargo", "build", "--release", "-p", "murmur-node"]
PARTS = {
    "topology": ([MURMUR], {}, [["benches/topology/bench.py", "--murmur", str(TARGET / "release/murmur")]]),
    "accountants": (
        [MURMUR, ["cargo", "bench", "-p", "murmuration-privacy", "--bench", "accountants", "--no-run"]],
        {"dp_accounting": "dp-accounting==0.6.0"},
        [["benches/accountants/compare.py"]],
    ),
    "network": ([MURMUR], {"numpy": "numpy"}, [["benches/network/bench.py"]]),
    "learn": (
        [["cargo", "build", "--release", "-p", "murmuration-learn", "--example", "private_step"]],
        {"numpy": "numpy", "torch": "torch", "opacus": "opacus"},
        [["benches/learn/bench.py"]],
    ),
    "sim": (
        [["cargo", "build", "--release", "-p", "murmuration-sim", "--example", "bench"]],
        {"numpy": "numpy", "scipy": "scipy"},
        [["benches/sim/bench.py", "--gossipy-rounds", "1", "--scale"]],
    ),
    "wire": ([MURMUR], {}, [["benches/wire/bench.py"]]),
    "masked": (
        [MURMUR, ["cargo", "build", "--release", "-p", "murmuration-sim", "--example", "masked_round"]],
        {},
        [["benches/masked/bench.py"]],
    ),
    "proofs": ([], {}, [["benches/proofs/bench.py"]]),
    "questions": ([MURMUR], {"opendp": "opendp==0.16.0"}, [["benches/questions/bench.py"]]),
    "python": (
        [
            ["bash", "-c", f"{PYTHON} -m pip install --quiet --force-reinstall --no-deps $(scripts/wheel | tail -1)"],
            ["cargo", "build", "--release", "-p", "murmur-node", "-p", "murmuration-learn", "-p", "murmuration-runtime", "--bin", "murmur", "--example", "rows", "--example", "trainer"],
        ],
        {"numpy": "numpy", "dp_accounting": "dp-accounting==0.6.0"},
        [["benches/python/bench.py"]],
    ),
    "swarm": (
        [MURMUR, ["cargo", "build", "--release", "-p", "murmuration-runtime", "--example", "exchange"]],
        {},
        [["benches/swarm/bench.py"], ["benches/swarm/others.py"]],
    ),
}
# Peers without which a part still says something.
# gossipy needs torchvision and does not say so.
OPTIONAL = {"python": {"flwr": "flwr[simulation]==1.41.0"}, "sim": {"gossipy": "gossipy-dfl==0.0.1", "torchvision": "torchvision"}, "swarm": {"hivemind": "hivemind"}}
# The same, where a peer needs older packages than the rest: an environment of its own, and the script that is run in it.
P2PFL = ["p2pfl[dp]==0.4.4", "huggingface_hub==0.23.5", "pyarrow==14.0.2", "python-dateutil<3"]
APART = {
    "swarm": {"p2pfl": (P2PFL, ["benches/swarm/others.py"])},
    # What later versions of Flower need is not everywhere to be had.
    "masked": {"flwr": (["flwr==1.41.0"], ["benches/masked/flower.py"])},
}


def importable(module, python=PYTHON):
    tried = subprocess.run([python, "-c", f"import {module}"], capture_output=True)
    return tried.returncode == 0


def install(module, *packages, python=PYTHON):
    """Whether the module can be imported, after an attempt to install it."""
    if importable(module, python):
        return True
    print(f"  installing {' '.join(packages)} from PyPI", flush=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
    return importable(module, python)


def environment(folder):
    """The interpreter of a virtual environment, made where it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return python


def run(name):
    builds, needed, scripts = PARTS[name]
    missing = [package for module, package in needed.items() if not install(module, package)]
    if missing:
        return f"left out: {', '.join(missing)} cannot be installed here"
    absent = [package for module, package in OPTIONAL.get(name, {}).items() if not install(module, package)]
    scripts = [[PYTHON, *script] for script in scripts]
    for module, (packages, script) in APART.get(name, {}).items():
        python = environment(TARGET / f"bench-venv-{module}")
        if install(module, *packages, python=python):
            scripts.append([python, *script])
        else:
            absent.append(module)
    for build in builds:
        subprocess.run(build, cwd=ROOT, check=True)
    out = TARGET / "benches" / f"{name}.md"
    out.parent.mkdir(exist_ok=True)
    failed = []
    with out.open("w") as file:
        for script in scripts:
            done = subprocess.run(script, cwd=ROOT, stdout=file)
            failed += [script[1]] if done.returncode else []
    said = f"{out}"
    said += f"; without {', '.join(absent)}" if absent else ""
    return said + (f"; FAILED: {', '.join(failed)}" if failed else "")


def main():
    names = sys.argv[1:] or list(PARTS)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    environment(VENV)
    results = {}
    for name in names:
        print(f"== {name}", flush=True)
        results[name] = run(name)
        print(f"  {results[name]}", flush=True)
    print("\n" + "\n".join(f"{name:<12} {said}" for name, said in results.items()))
    sys.exit(any("FAILED" in said for said in results.values()))


if __name__ == "__main__":
    main()
