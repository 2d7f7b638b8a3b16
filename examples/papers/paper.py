"""What the scripts of this folder share: their flags, calls of `murmur`, and files of results."""
import argparse
import csv
import json
import math
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def arguments(description, folder):
    """--murmur, --shared, --out and --small, the same in every script."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--murmur", default=shutil.which("murmur") or str(ROOT / "target/release/murmur"),
                        help="the program [default: the one on PATH, else target/release/murmur]")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared",
                        help="folder with data/graphs and data/houses.csv.gz [default: ../shared]")
    parser.add_argument("--out", type=pathlib.Path, default=folder, help="where results go [default: this folder]")
    parser.add_argument("--small", action="store_true", help="a small setting, for the test")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    given.parameters = json.loads((folder / "parameters.json").read_text(encoding="utf-8"))
    if given.small:
        given.parameters |= given.parameters["small"]
    return given


def run(given, *words):
    """What `murmur WORDS` prints."""
    command = [given.murmur, *map(str, words)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        sys.exit(f"error: cannot start `{given.murmur}`: {error.strerror}\nhint: build it with `cargo build --release` or name it with --murmur PATH")
    if done.returncode != 0:
        sys.exit(f"error: `{' '.join(command)}` failed\n{done.stderr}")
    return done.stdout


def murmur(given, *words):
    """What `murmur WORDS --format json` answers."""
    return json.loads(run(given, *words, "--format", "json"))


def graph(given, spec):
    """A spec with `shared:NAME` made a path, or nothing (and a line that says so) where the file is not there."""
    if not spec.startswith("shared:"):
        return spec
    path = given.shared / "data/graphs" / (spec.split(":", 1)[1] + ".edges.gz")
    if path.exists():
        return f"file:{path}"
    skipped(given, path)
    return None


def skipped(given, path):
    name = path.relative_to(given.shared) if path.is_relative_to(given.shared) else path
    print(f"skipped: there is no {name} in the shared folder (--shared names it)", file=sys.stderr)


def write_csv(given, name, header, rows):
    with open(given.out / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([[shown(value) for value in row] for row in rows])


def write(given, name, content):
    (given.out / name).write_text(content, encoding="utf-8")


def shown(value):
    """Six digits are more than any figure here deserves, and the same on every machine."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def markdown(header, rows):
    """The rows as a table for a README, printed."""
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        cells = ["–" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value) for value in row]
        print("| " + " | ".join(cells) + " |", flush=True)
    print()


def mean(values):
    return math.fsum(values) / len(values)


def pairs(given, *words):
    """Rows {watcher, source, distance, mu2, epsilon} of `murmur privacy pairwise WORDS`."""
    kinds = {"watcher": int, "source": int, "distance": int, "mu2": float, "epsilon": float}
    rows = csv.DictReader(run(given, "privacy", "pairwise", *words, "--format", "csv").splitlines())
    return [{key: kind(row[key]) if row[key] else None for key, kind in kinds.items()} for row in rows]


def grouped(rows, key="mu2", most=math.inf):
    """{distance: [value, …]}, each value at most `most`; nodes out of reach are left out."""
    groups = {}
    for row in rows:
        if row["distance"] is not None:
            groups.setdefault(row["distance"], []).append(min(row[key], most))
    return dict(sorted(groups.items()))


def spread(nodes, count):
    """`count` nodes, evenly over all, as a flag's value."""
    count = min(count, nodes)
    return ",".join(str(at * nodes // count) for at in range(count))
