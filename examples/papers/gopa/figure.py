#!/usr/bin/env python3
"""Averages of members who share cancelling noise (GOPA): what trust buys, and how much shared noise is enough, by the exact loss.

    examples/papers/gopa/figure.py [--murmur PATH] [--small]

Writes variance.csv, losses.csv, enough.csv and figure.svg, and prints the tables of the README.
"""
import math
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import chart
import paper


def chosen(nodes, choices, seed):
    """Edges of a graph in which each member chooses so many others."""
    dice = random.Random(seed)
    edges = set()
    for node in range(nodes):
        for other in dice.sample([one for one in range(nodes) if one != node], choices):
            edges.add((min(node, other), max(node, other)))
    return sorted(edges)


def spec_of(given, nodes, choices):
    """A graph as `murmur` takes it: all pairs, or those that were chosen."""
    if choices is None:
        return f"complete:{nodes}"
    path = given.out / f"chosen-{choices}.edges"
    path.write_text("".join(f"{a} {b}\n" for a, b in chosen(nodes, choices, given.parameters["seed"])), encoding="utf-8")
    return f"file:{path}"


def worst(given, spec, nodes, share, noise):
    """The largest exact loss of an honest member, where the last ones pool what they know; own noise has deviation 1."""
    colluders = range(round(share * nodes), nodes)
    words = ["--coalition", ",".join(map(str, colluders))] if colluders else []
    answer = paper.murmur(given, "privacy", "gopa", "--topology", spec, "--sigma-eta", 1, "--sigma-delta", noise, *words)
    return max(answer["loss"])


def enough(given, spec, nodes, share):
    """The least shared noise for which the loss is within `near` of what a curator would give the honest ones; nothing if no noise is."""
    aim = given.parameters["near"] / round(share * nodes)
    low, high = 0.01, 1e4
    if worst(given, spec, nodes, share, high) > aim:
        return None
    while high / low > 1.02:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if worst(given, spec, nodes, share, middle) <= aim else (middle, high)
    return high


def main():
    given = paper.arguments(__doc__, HERE)
    p = given.parameters
    nodes = p["nodes"]
    # At equal loss towards the others: own noise of h honest members must add up to the noise of a curator.
    variance = [[share, 1 / share, float(nodes)] for share in p["shares"]]
    paper.write_csv(given, "variance.csv", ["honest", "gopa_over_curator", "local_over_curator"], variance)
    paper.markdown(["share of honest members", "GOPA : curator", "alone : curator"], variance)

    graphs = [(str(choices), spec_of(given, nodes, choices)) for choices in p["choices"]] + [("all", spec_of(given, nodes, None))]
    losses = [[name, share, noise, worst(given, spec, nodes, share, noise) * round(share * nodes)]
              for name, spec in graphs for share in p["honest"] for noise in p["noises"]]
    paper.write_csv(given, "losses.csv", ["choices", "honest", "noise", "over_curator"], losses)
    rows = [[name, *(enough(given, spec, nodes, share) for share in p["honest"])] for name, spec in graphs]
    paper.write_csv(given, "enough.csv", ["choices", *(f"honest_{share:g}" for share in p["honest"])], rows)
    paper.markdown(["chosen by each", *(f"σ_Δ/σ_η, {share:.0%} honest" for share in p["honest"])], rows)
    for name, spec in graphs:
        if name != "all":
            pathlib.Path(spec.removeprefix("file:")).unlink()
    draw(given, p, variance, losses, graphs)


def draw(given, p, variance, losses, graphs):
    left = chart.Panel("Variance of the mean, over a curator's", "share of honest members", "times", [
        chart.Series("neighbours share noise", [row[:2] for row in variance], 0),
        chart.Series("everybody alone", [(row[0], row[2]) for row in variance], 1, "dashed", "none")], log_x=True)
    share = p["honest"][0]
    curves = [chart.Series("all pairs" if name == "all" else f"{name} chosen by each", [(row[2], row[3]) for row in losses if row[0] == name and row[1] == share], 2 + at)
              for at, (name, _) in enumerate(graphs)]
    right = chart.Panel("Worst exact loss, over a curator's", "shared noise over own noise", "times", curves, log_x=True)
    description = ("Left: what the mean's variance is over that of a trusted curator at equal loss, one over the share of honest members. Right: the worst exact loss falls to a curator's as shared noise grows; "
                   "the more others each member chooses, the less shared noise is enough.")
    paper.write(given, "figure.svg", chart.figure("Noise that neighbours share and that cancels", description, [left, right]))


if __name__ == "__main__":
    main()
