#!/usr/bin/env python3
"""Personal models with noise in the metric of models (Galli et al. 2023): the published heuristic beside a sound variant.

What a node sends is its change of a model plus Laplace noise in R^n. The paper lets the noise follow the private length of that change, which is no guarantee; clipped to a
public radius it is one. Both are run on the paper's synthetic data, on payments to hospitals and on gradients of digits, and each is priced.
"""
import csv
import gzip
import math
import pathlib
import random
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
import chart  # noqa: E402
import laplace  # noqa: E402
import models  # noqa: E402
import paper  # noqa: E402
import training  # noqa: E402

VARIANTS = ["published", "sound"]


def main():
    given = paper.arguments(__doc__, FOLDER)
    p = given.parameters
    panels = [synthetic(given, p), *charges(given, p), inversion(given, p)]
    leakage(given, p)
    description = ("Error of hypotheses, error of predicted payments and likeness of reconstructed digits against the noise level nu, for the published heuristic "
                   "and for noise with a public radius: the heuristic is more exact because it adds less noise where updates are short, which is what it gives away.")
    paper.write(given, "figure.svg", chart.figure("Noise in the metric of models", description, [panel for panel in panels if panel]))


def synthetic(given, p):
    """The largest distance of one of the two lines to the nearest hypothesis."""
    s, rows, series = p["synthetic"], [], []
    for variant in VARIANTS:
        points = []
        for nu in p["nus"]:
            found = [distance(s, (variant, nu), seed) for seed in p["seeds"]]
            rows.append([variant, nu, paper.mean(found), max(found)])
            points.append((nu, paper.mean(found)))
        series.append(curve(variant, points))
    bare = paper.mean([distance(s, ("none", 0.0), seed) for seed in p["seeds"]])
    rows.append(["none", 0.0, bare, bare])
    paper.write_csv(given, "synthetic.csv", ["variant", "nu", "distance", "largest"], rows)
    paper.markdown(["variant", "ν", "distance", "largest over seeds"], rows)
    return chart.Panel("Two lines, 100 nodes", "ν", "largest distance to a model", series, log_x=True)


def distance(s, noise, seed):
    draws = random.Random(f"lines/{seed}")
    nodes = []
    for node in range(s["nodes"]):
        truth = s["truths"][node % len(s["truths"])]
        xs = [[draws.gauss(0.0, 1.0), draws.gauss(0.0, 1.0)] for _ in range(s["records"])]
        nodes.append([(x, truth[0] * x[0] + truth[1] * x[1] + draws.random()) for x in xs])
    found = training.train(models.Line, nodes, s["hypotheses"], noise, s, seed)
    return max(min(math.dist(truth, model) for model in found) for truth in s["truths"])


def charges(given, p):
    """Root mean squared error on hospitals that did not train: judged on the records that chose the hypothesis, as published, and on others."""
    hospitals = payments(given)
    if not hospitals:
        return []
    c, rows, same, other = p["charges"], [], [], []
    for at, hypotheses in enumerate(c["hypotheses"]):
        for variant in VARIANTS:
            points = []
            for nu in p["nus"]:
                found = [judged(hospitals, c, hypotheses, (variant, nu), seed) for seed in p["seeds"]]
                errors = [paper.mean(column) for column in zip(*found)]
                rows.append([variant, hypotheses, nu, *errors])
                points.append((nu, *errors))
            name = f"{variant}, {hypotheses} hypotheses" if hypotheses > 1 else f"{variant}, one model"
            look = {"dash": "dashed" if variant == "published" else "solid", "marker": "cross" if variant == "published" else "dot"}
            same.append(chart.Series(name, [(nu, error) for nu, error, _ in points], at, **look))
            other.append(chart.Series(name, [(nu, error) for nu, _, error in points], at, **look))
    line = paper.mean([intercepts(hospitals, seed) for seed in p["seeds"]])
    rows.append(["linear, own intercept", 1, 0.0, None, line])
    other.append(chart.Series("linear, own intercept, no noise", [(nu, line) for nu in p["nus"]], 5, dash="dotted", marker="none"))
    header = ["variant", "hypotheses", "nu", "rmse_on_choosing_records", "rmse_on_other_records"]
    paper.write_csv(given, "charges.csv", header, rows)
    paper.markdown(["variant", "hypotheses", "ν", "on the records that chose", "on other records"], rows)
    ends = (0.05, 1.0)
    return [chart.Panel("Hospitals, as published", "ν", "RMSE, records that chose", same, log_x=True, y_range=ends),
            chart.Panel("Hospitals, on other records", "ν", "RMSE, other records", other, log_x=True, y_range=ends)]


def payments(given):
    """Records of each hospital in the range of the units, or nothing where the table is not there."""
    path = given.shared / "data/hospital_charges.csv.gz"
    if not path.exists():
        paper.skipped(given, path)
        return []
    found = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            x = [int(row["drg_index"]) / 3, float(row["lon"]) / 100, float(row["lat"]) / 100]
            found.setdefault(row["provider_id"], []).append((x, float(row["avg_total_payments"]) / 10_000))
    hospitals = [found[name] for name in sorted(found)]
    return hospitals[:80] if given.small else hospitals


def divided(hospitals, seed):
    """70 % of the hospitals to train, the others to judge."""
    order = hospitals[:]
    random.Random(f"hospitals/{seed}").shuffle(order)
    cut = round(0.7 * len(order))
    return order[:cut], order[cut:]


def judged(hospitals, c, hypotheses, noise, seed):
    train, test = divided(hospitals, seed)
    found = training.train(models.Network, train, hypotheses, noise, c, seed)
    same, other, count = 0.0, 0.0, 0
    for records in test:
        same += len(records) * models.loss(models.Network, found[models.best(models.Network, found, records)], records)
        for at, record in enumerate(records):
            rest = records[:at] + records[at + 1:]
            choice = models.best(models.Network, found, rest) if rest else 0
            other += models.loss(models.Network, found[choice], [record])
            count += 1
    return math.sqrt(same / count), math.sqrt(other / count)


def intercepts(hospitals, seed):
    """A linear model, and for each record an intercept from the hospital's other records."""
    train, test = divided(hospitals, seed)
    weights = models.least_squares([record for records in train for record in records])
    squares = []
    for records in test:
        rest = [y - sum(w * value for w, value in zip(weights, [*x, 1.0])) for x, y in records]
        squares += [(own - (sum(rest) - own) / (len(rest) - 0.5)) ** 2 for own in rest]
    return math.sqrt(paper.mean(squares))


def leakage(given, p):
    """What five releases of eleven parameters cost: as the paper counts, by the pure bound at node level, and by Renyi divergence."""
    size, releases, rows = models.Network.parameters, p["charges"]["rounds"], []
    for nu in p["nus"]:
        shift = 2 * size / nu
        pure = releases * shift
        rows.append([nu, releases * size / nu, pure, laplace.epsilon(size, shift, releases, p["delta"]), seen(size, nu, 10.0)])
    header = ["nu", "claimed", "node_level_pure", "node_level_renyi", "seen_in_one_of_a_hundred"]
    paper.write_csv(given, "leakage.csv", header, rows)
    paper.markdown(["ν", "claimed, 5 releases", "sound, 5 releases, pure", "sound, 5 releases, δ = 1e-5", "published, one release: seen in one of a hundred"], rows)


def seen(size, nu, factor, count=2000):
    """The heuristic's noise follows the update: the loss in favour of the longer of two updates, of lengths 1 and `factor`, that one release in a hundred passes."""
    draws = random.Random(f"seen/{nu}")
    short, long = size / nu, size / (nu * factor)
    losses = []
    for _ in range(count):
        noise = laplace.noise(draws, size, long)
        to_short = math.hypot(noise[0] + factor - 1.0, *noise[1:])
        losses.append(short * to_short - long * math.hypot(*noise) - size * math.log(factor))
    return sorted(losses)[-count // 100]


def inversion(given, p):
    """How like a digit is what one reads off the noisy gradient of a node with that one record: row k of a softmax's gradient is (p_k - y_k) x, its intercept p_k - y_k."""
    path = paper.ROOT / "node/learn/data/digits.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        table = [[int(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    draws, rows, series = random.Random("inversion"), [], []
    chosen = draws.sample(table, p["inversion"]["records"])
    for variant in VARIANTS:
        points = []
        for nu in p["nus"]:
            likeness = paper.mean([reconstructed(draws, row, (variant, nu)) for row in chosen])
            rows.append([variant, nu, likeness])
            points.append((nu, likeness))
        series.append(curve(variant, points))
    paper.write_csv(given, "inversion.csv", ["variant", "nu", "likeness"], rows)
    paper.markdown(["variant", "ν", "cosine of digit and reconstruction"], rows)
    return chart.Panel("A digit read off one gradient", "ν", "cosine with the digit", series, log_x=True, log_y=False)


# Longest gradient of a digit at the first model: public, by the range of the pixels.
LONGEST = math.sqrt(0.9 ** 2 + 9 * 0.1 ** 2) * math.sqrt(64 + 1)


def reconstructed(draws, row, noise):
    x, label = [value / 16 for value in row[:-1]], row[-1]
    slopes = [0.1 - (k == label) for k in range(10)]
    gradient = [slope * value for slope in slopes for value in [*x, 1.0]]
    length = math.sqrt(sum(value * value for value in gradient)) if noise[0] == "published" else LONGEST
    size = len(gradient)
    seen_ = [a + b for a, b in zip(gradient, laplace.noise(draws, size, size / (noise[1] * length)))]
    rows = [seen_[65 * k:65 * (k + 1)] for k in range(10)]
    found = [sum(one[64] * one[at] for one in rows) for at in range(64)]
    return sum(a * b for a, b in zip(found, x)) / math.sqrt(sum(a * a for a in found) * sum(b * b for b in x))


def curve(variant, points):
    published = variant == "published"
    return chart.Series(variant, points, VARIANTS.index(variant), dash="dashed" if published else "solid", marker="cross" if published else "dot")


if __name__ == "__main__":
    main()
