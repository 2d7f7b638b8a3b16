#!/usr/bin/env python3
"""The table of results: how good models are by what was spent, on five data sets, by who trusts whom.

    benches/results.py [SET]…      digits, houses, adult, mnist, fashion; all of them without a word

Runs `murmur sim` (--murmur PATH, or target/release/murmur) once per cell, eight seeds each, and writes docs/RESULTS.md with its pictures. A cell that is finished is stored in
benches/results.json and not run again, so the script may be stopped and started as one likes; --minutes N stops it by itself, --table only writes what is stored. Data that are
not part of the repository are looked for in ../shared/data (--shared); what is not there is left out, with a line that says so.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benches"))
import results_page  # noqa: E402 (it stands beside this file)

STORE = ROOT / "benches/results.json"
SEEDS = 8
SIZES = (8, 64)
EPSILONS = ("0.5", "1", "2", "4", "8", "inf")

# Settings are the same for all rows of a set: chosen by hand for the curator at ε = 2.
SETS = {
    "digits": {"data": "digits", "rounds": 60, "learning_rate": 8, "privacy.clip_norm": 0.5, "test_fraction": 0.2},
    "houses": {
        "data": "{shared}/houses.csv.gz:label=y_price_below_mean,drop=median_house_value+y_openml823,scale=longitude@-125..-114+latitude@32..42"
        "+housing_median_age@0..52+total_rooms@0..10000+total_bedrooms@0..2000+population@0..5000+households@0..2000+median_income@0..15",
        "model.kind": "logistic", "optimiser.kind": "momentum", "rounds": 100, "learning_rate": 20, "privacy.clip_norm": 0.3, "test_fraction": 0.2,
    },
    "adult": {
        "data": "{shared}/adult.csv.gz:schema=examples/adult/schema.toml,split=split",
        "model.kind": "logistic", "rounds": 100, "learning_rate": 8, "privacy.clip_norm": 1,
    },
    "mnist": {"data": "mnist:{shared}/mnist:part=test", "rounds": 60, "learning_rate": 4, "privacy.clip_norm": 1, "test_fraction": 0.2},
    "fashion": {"data": "mnist:{shared}/fashion-mnist:part=test", "rounds": 60, "learning_rate": 4, "privacy.clip_norm": 1, "test_fraction": 0.2},
}
FILES = {"houses": "houses.csv.gz", "adult": "adult.csv.gz", "mnist": "mnist", "fashion": "fashion-mnist"}

MASKED = {"algorithm.kind": "rounds", "privacy.masking": "pairwise"}
PLAIN = {"algorithm.kind": "rounds", "privacy.masking": "none"}


def masked(colluders):
    return lambda nodes: MASKED | {"privacy.colluders": colluders(nodes)}


ROWS = {
    "alone": lambda _: {"algorithm.kind": "alone"},
    "local": lambda _: {"algorithm.kind": "local"},
    "rounds": lambda _: PLAIN,
    "masked-all": masked(lambda nodes: nodes - 2),
    "masked-third": masked(lambda nodes: (nodes - 1) // 3),
    "masked-one": masked(lambda _: 1),
    "personal": lambda nodes: MASKED
    | {"privacy.colluders": (nodes - 1) // 3, "personal.kind": "proximal", "personal.test_fraction": 0.2, "test_fraction": 0},
    "central": lambda _: {"algorithm.kind": "central"},
}
# Where records are many a model of each node's own takes longest and, nodes being alike, says least: these sets have it.
WITH_PERSONAL = {"digits": {}, "houses": {"personal.lambda": 0.1}}
# Without noise there is nothing to hide: these rows are those of `rounds` then.
AS_ROUNDS = ("local", "masked-all", "masked-third", "masked-one")

LIARS = {"faults.hostile": '[{ nodes = [3, 17, 29, 41, 58], kind = "push:0.3" }]'}
LYING = {
    "plain": lambda _: PLAIN,
    "plain-liars": lambda _: PLAIN | LIARS,
    "robust": lambda _: PLAIN | {"robust.tolerate": 5},
    "robust-liars": lambda _: PLAIN | {"robust.tolerate": 5} | LIARS,
    "masked": masked(lambda nodes: (nodes - 1) // 3),
    "masked-liars": lambda nodes: masked(lambda nodes: (nodes - 1) // 3)(nodes) | LIARS,
}
# Where nodes differ: what a model of one's own brings.
SKEWED = {"partition.kind": "dirichlet", "partition.alpha": 0.1, "partition.min_size": 8, "test_fraction": 0}


def cells(name):
    """Every cell of a set: its key, and the keys of its configuration."""
    for nodes in SIZES:
        for row, settings in ROWS.items():
            for epsilon in EPSILONS:
                if epsilon == "inf" and row in AS_ROUNDS:
                    continue
                if row == "personal" and name not in WITH_PERSONAL:
                    continue
                said = settings(nodes) | (WITH_PERSONAL[name] if row == "personal" else {})
                if epsilon == "inf" and row == "personal":
                    said = said | PLAIN
                    said.pop("privacy.colluders")
                yield f"{name}/{nodes}/{row}/{epsilon}", SETS[name] | said | {"nodes": nodes, "privacy.epsilon": epsilon}
    if name not in ("digits", "adult"):
        return
    for row, settings in LYING.items():
        for epsilon in EPSILONS:
            said = settings(64)
            if epsilon == "inf" and row.startswith("masked"):
                continue
            yield f"{name}/lying/{row}/{epsilon}", SETS[name] | said | {"nodes": 64, "privacy.epsilon": epsilon}
    if name == "digits":
        for epsilon in EPSILONS:
            said = ROWS["personal"](16) if epsilon != "inf" else PLAIN | {"personal.kind": "proximal", "personal.test_fraction": 0.2}
            yield f"{name}/skewed/personal/{epsilon}", SETS[name] | said | SKEWED | {"nodes": 16, "privacy.epsilon": epsilon}


def ordered(names):
    """What is most looked at is there soonest: small sets first, eight nodes before 64, members that lie after both, and the rules against them, which take longest, later; last
    64 lonely models of large sets, each of which is judged after every round."""
    slow = {"mnist": 4, "fashion": 4}

    def place(cell):
        name, size, row, _ = cell[0].split("/")
        if row == "alone" and size == "64" and name not in WITH_PERSONAL:
            return 20
        return slow.get(name, 0) + {"8": 0, "skewed": 1, "64": 2}.get(size, 7 if name == "adult" else 3 if row.startswith("robust") else 2.5)

    return sorted((cell for name in names for cell in cells(name)), key=place)


def run(murmur, settings, shared):
    """One cell: the figures of each seed."""
    pairs = {key: str(value).replace("{shared}", str(shared)) for key, value in settings.items()}
    words = [word for key, value in pairs.items() for word in ("--set", f"{key}={value}")]
    command = [murmur, "sim", "--seeds", str(SEEDS), "--threads", "1", "--format", "json", *words]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[:3]}
    runs = json.loads(done.stdout)["runs"]
    own = [one.get("personal") for one in runs]
    found = {"accuracy": [short(one["test_acc"]) for one in runs]}
    if all(own):
        found |= {word: [short(one[f"{word}_acc"]) for one in own] for word in ("personal", "shared", "alone")}
    return found


def short(part):
    return None if part is None else round(part, 5)


def digest(settings):
    """Of what a cell was run with, but for the place of the data: another digest, and the cell is run again."""
    said = sorted((name, str(value)) for name, value in settings.items() if name != "data")
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12]


def save(stored):
    """One cell a line, never half a file."""
    lines = [f"{json.dumps(key)}: {json.dumps(cell)}" for key, cell in sorted(stored.items())]
    beside = STORE.with_suffix(".tmp")
    beside.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    beside.replace(STORE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", choices=[[], *SETS], metavar="SET")
    parser.add_argument("--murmur", default=os.environ.get("MURMUR") or str(ROOT / "target/release/murmur"))
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no cell after so long")
    parser.add_argument("--table", action="store_true", help="write the page of what is stored, run nothing")
    given = parser.parse_args()
    stored = json.loads(STORE.read_text()) if STORE.exists() else {}
    begun = time.monotonic()
    here = [name for name in given.sets or SETS if name not in FILES or (given.shared / FILES[name]).exists()]
    for name in set(given.sets or SETS) - set(here):
        print(f"skipped: there is no {FILES[name]} in the shared folder (--shared names it)", file=sys.stderr)
    for key, settings in [] if given.table else ordered(here):
        known = stored.get(key, {})
        if known.get("of") == digest(settings) and "error" not in known:
            continue
        if time.monotonic() - begun > 60 * given.minutes:
            print("the time is up; start again for the rest", file=sys.stderr)
            break
        start = time.monotonic()
        found = run(given.murmur, settings, given.shared)
        seconds = time.monotonic() - start
        print(f"{key}: {seconds:.1f} s {found.get('error', '')}", file=sys.stderr, flush=True)
        stored[key] = {"of": digest(settings), **found}
        save(stored)
    results_page.write(ROOT, stored, list(SETS), SETS, EPSILONS)


if __name__ == "__main__":
    main()
