#!/usr/bin/env python3
"""The sweep behind docs/DEFAULTS.md: clip norm by learning rate on six public data sets, four nodes, ε = 4, with the masks that runs have by themselves.

    benches/defaults.py [--murmur target/release/murmur] [--data ../shared/data] [--only heart,adult] [--seeds 4]

Prints the table in Markdown. Features are scaled by public bounds; batches are by the rule (a thirty-second of a node's records, 16 to 256).
"""

import argparse
import gzip
import json
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLIPS, RATES = ["0.5", "1", "2"], ["1", "2", "4"]

HOUSES = """[schema]
label = "y_price_below_mean"
[columns.y_price_below_mean]
values = [-1, 1]
""" + "".join(
    f"[columns.{name}]\nbounds = [{low}, {high}]\n"
    for name, low, high in [
        ("median_income", 0, 15), ("housing_median_age", 0, 52), ("total_rooms", 0, 10000), ("total_bedrooms", 0, 2000),
        ("population", 0, 5000), ("households", 0, 2000), ("latitude", 32, 42), ("longitude", -125, -114),
    ]
)  # fmt: skip

OPTDIGITS = (
    '[schema]\nlabel = "label"\n[columns.label]\nvalues = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n'
    + "".join(f"[columns.p{at}]\nbounds = [0, 16]\n" for at in range(64))
)


def data_sets(shared, folder):
    """Name, records for training, kind of model, source."""
    (folder / "houses.toml").write_text(HOUSES)
    (folder / "optdigits.toml").write_text(OPTDIGITS)
    heart = (ROOT / "examples/messy/schema.toml").read_text().replace('person = "patient"\n', "")
    (folder / "heart.toml").write_text(heart)
    adult = ROOT / "examples/adult/schema.toml"
    return {
        "heart": (920, 736, "logistic", f"{shared}/heart_disease.csv.gz:schema={folder}/heart.toml"),
        "breast cancer": (569, 455, "logistic", "breast-cancer"),
        "digits": (1797, 1437, "softmax", "digits"),
        "optdigits": (5620, 3823, "softmax", f"{shared}/optdigits.csv.gz:schema={folder}/optdigits.toml,split=split"),
        "houses": (20640, 16512, "logistic", f"{shared}/houses.csv.gz:schema={folder}/houses.toml"),
        "Adult": (48842, 32561, "logistic", f"{shared}/adult.csv.gz:schema={adult},split=split"),
    }


def sweep(murmur, source, model, records, seeds):
    """All runs of one data set."""
    batch = max(16, min(256, records // 4 // 32))
    sets = [f"data={source}", f"model.kind={model}", "nodes=4", "rounds=160", f"batch_size={batch}", "privacy.epsilon=4"]
    command = [murmur, "sim", "--format", "json", "--seeds", str(seeds)]
    command += [word for pair in sets for word in ("--set", pair)]
    command += ["--sweep", "privacy.clip_norm=" + ",".join(CLIPS), "--sweep", "learning_rate=" + ",".join(RATES)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--murmur", default=str(ROOT / "target/release/murmur"))
    options.add_argument("--data", default=str(ROOT / "../shared/data"))
    options.add_argument("--only", default="")
    options.add_argument("--seeds", type=int, default=4)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sets = data_sets(pathlib.Path(asked.data).resolve(), pathlib.Path(folder))
        sets = {name: found for name, found in sets.items() if not asked.only or name in asked.only.split(",")}
        cells = {}
        for name, (_, records, model, source) in sets.items():
            for run in sweep(asked.murmur, source, model, records, asked.seeds)["runs"]:
                key = (float(run["set"]["privacy.clip_norm"]), float(run["set"]["learning_rate"]), name)
                cells.setdefault(key, []).append(100 * run["test_acc"])
    print("| clip norm × learning rate | " + " | ".join(f"{name} ({all_of[0]:,})" for name, all_of in sets.items()) + " |")
    print("|---" * (len(sets) + 1) + "|")
    for clip in CLIPS:
        for rate in RATES:
            row = [cells[float(clip), float(rate), name] for name in sets]
            shown = " | ".join(f"{statistics.mean(one):.1f} ± {statistics.stdev(one) if len(one) > 1 else 0:.1f}" for one in row)
            print(f"| {clip} × {rate} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
