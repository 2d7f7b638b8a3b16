#!/usr/bin/env python3
"""Matrix factorisation for decentralised learning (ICLR 2026): loss by distance from the attacker after ten contributions.

    examples/papers/matrix-factorisation/figure.py [--murmur PATH] [--shared ../shared] [--small]

Writes losses.csv and figure.svg, and prints the table of the README. Losses are Rényi divergences at order 2 with σ = 1, that is μ²; weights are
the rows of A + I divided by their sums, as in the paper.
"""
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import chart
import graphs
import paper
import projection

KINDS = {"earlier": "bound of Cyffers et al. (2022, corrected)", "published": "matrix factorisation (2026)", "linear": "linear, at most local",
         "contractive": "contractive: sound for convex SGD"}
# The definition in plain Python takes (degree · rounds)² · nodes · rounds operations.
MOST_FOR_PYTHON = 3_000_000


def earlier_bound(near, rounds, attacker):
    """The bound that the paper compares with: Σ_s (T − s) Σ_{w ∈ N(v)} (W^s)_uw / ‖(W^s)·w‖², at most T."""
    weights = projection.uniform_weights(near)
    sums = [0.0] * len(near)
    # The attacker hears itself too in the paper's graphs, which have a loop at every node.
    for node in [*near[attacker], attacker]:
        column = projection.unit(len(near), node)
        for s in range(rounds):
            norm = projection.dot(column, column)
            sums = [total + (rounds - s) * value / norm for total, value in zip(sums, column)]
            column = [sum(weight * column[other] for other, weight in row) for row in weights]
    return [min(total, float(rounds)) for total in sums]


def priced(given, p, spec, method):
    """{kind: rows}, the number of nodes, and the seconds that the exact loss took."""
    common = ["--topology", spec, "--largest-component", "--weights", "uniform", "--rounds", p["rounds"], "--watcher", p["attacker"]]
    found = {"published": paper.pairs(given, *common, "--analysis", "published", "--formula", "matrix-factorisation-2026")}
    started = time.monotonic()
    found["linear"] = paper.pairs(given, *common, "--analysis", "linear")
    seconds = time.monotonic() - started
    found["contractive"] = paper.pairs(given, *common, "--analysis", "contractive", "--method", method)
    near = graphs.neighbours(given, spec)
    bound = earlier_bound(near, p["rounds"], p["attacker"])
    found["earlier"] = [row | {"mu2": bound[row["source"]]} for row in found["linear"]]
    work = (len(near[p["attacker"]]) * p["rounds"]) ** 2 * len(near) * p["rounds"]
    if work < MOST_FOR_PYTHON:
        definition = projection.losses(near, p["rounds"], p["attacker"])
        worst = max(abs(row["mu2"] - definition[row["source"]]) / definition[row["source"]] for row in found["published"] if row["mu2"] > 1e-9)
        if worst > 1e-6:
            sys.exit(f"error: on {spec} `murmur` and the definition differ by {worst:.2g} of the loss")
    return found, len(near), seconds


def main():
    given = paper.arguments(__doc__, HERE)
    p = given.parameters
    rows, drawn = [], {}
    for one in p["graphs"]:
        spec = paper.graph(given, one["spec"])
        if spec is None:
            continue
        found, nodes, seconds = priced(given, p, spec, one.get("method", "riccati"))
        groups = {kind: paper.grouped(found[kind]) for kind in KINDS}
        for distance, values in groups["linear"].items():
            rows.append([one["name"], nodes, distance, len(values), *[paper.mean(groups[kind][distance]) for kind in KINDS]])
        drawn[one["name"]] = groups
        print(f"{one['name']}: {nodes} nodes, the exact loss of every node took {seconds:.1f} s", file=sys.stderr, flush=True)
    paper.write_csv(given, "losses.csv", ["graph", "nodes", "distance", "pairs", *KINDS], rows)
    paper.markdown(["graph", "nodes", "distance", "nodes there", "earlier bound", "published", "`linear`", "`contractive`"], rows)
    draw(given, p, drawn)


def draw(given, p, drawn):
    looks = {"earlier": ("dashed", "cross"), "published": ("dashed", "square"), "linear": ("solid", "dot"), "contractive": ("dotted", "dot")}
    panels = []
    for name, groups in drawn.items():
        curve = lambda kind: [(distance, paper.mean(values)) for distance, values in groups[kind].items()]
        series = [chart.Series(KINDS[kind], curve(kind), number, *looks[kind]) for number, kind in enumerate(KINDS)]
        panels.append(chart.Panel(name, "distance from the attacker", "Rényi loss at order 2", series))
    description = (f"Mean loss by distance from the attacker after {p['rounds']} contributions on " + ", ".join(drawn) + ". The exact loss falls "
                   "steeply with distance; the sound bound for SGD lies above it; the earlier bound lies far above both.")
    paper.write(given, "figure.svg", chart.figure("Ten contributions, seen by one attacker", description, panels))


if __name__ == "__main__":
    main()
