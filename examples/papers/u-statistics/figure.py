#!/usr/bin/env python3
"""Statistics of pairs in the local model (Bell, Bellet, Gascón, Kulkarni 2020): the theorem's bound, the exact deviation, and the error that is measured.

    examples/papers/u-statistics/figure.py [--murmur PATH] [--small]

Everybody holds one value and answers by K-ary randomised response. Writes errors.csv and figure.svg, and prints the table of the README.
"""
import math
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import chart
import paper


def bound(nodes, categories, epsilon, lipschitz=1.0):
    """The theorem: MSE ≤ 1/(n(1−β)²) + (1+β)²/(2n(n−1)(1−β)⁴) + L²/(2k²), with β = k/(k + e^ε − 1); its root."""
    beta = categories / (categories + math.exp(epsilon) - 1)
    mse = 1 / (nodes * (1 - beta) ** 2) + (1 + beta) ** 2 / (2 * nodes * (nodes - 1) * (1 - beta) ** 4) + lipschitz ** 2 / (2 * categories ** 2)
    return math.sqrt(mse)


def values(nodes):
    dice = random.Random(nodes)
    return [dice.betavariate(2, 5) for _ in range(nodes)]


def asked(given, path, nodes, epsilon, seed):
    answer = paper.murmur(given, "ask", f"SELECT {given.parameters['statistic']} FROM swarm", "--try", path, "--nodes", nodes, "--trust", "local",
                          "--epsilon", epsilon, "--seed", seed, "--yes", "--column", "x:bounds=0..1,fill=0.3")
    return answer["plan"]["coordinates"], answer["rows"][0]["answers"][given.parameters["statistic"]]


def main():
    given = paper.arguments(__doc__, HERE)
    p = given.parameters
    rows = []
    for nodes in p["nodes"]:
        path = given.out / "values.csv"
        path.write_text("x\n" + "".join(f"{value:.6f}\n" for value in values(nodes)), encoding="utf-8")
        for epsilon in p["epsilons"]:
            answers = [asked(given, path, nodes, epsilon, seed) for seed in range(1, p["seeds"] + 1)]
            categories = answers[0][0]
            error = math.sqrt(paper.mean([(one["raw"] - one["truth"]) ** 2 for _, one in answers]))
            deviation = paper.mean([one["deviation"] for _, one in answers])
            covered = paper.mean([one["low"] <= one["truth"] <= one["high"] for _, one in answers])
            limit = bound(nodes, categories, epsilon)
            rows.append([nodes, epsilon, categories, error, deviation, limit, (limit / error) ** 2, covered, answers[0][1]["theorem_bound"]])
        path.unlink()
    header = ["nodes", "epsilon", "categories", "measured", "deviation", "theorem", "mse_times", "covered", "murmur_theorem"]
    paper.write_csv(given, "errors.csv", header, rows)
    paper.markdown(["members", "ε", "k", "measured", "exact deviation", "theorem", "theorem : measured (MSE)", "intervals that hold"], [row[:8] for row in rows])
    draw(given, p, rows)


def draw(given, p, rows):
    epsilon = p["epsilons"][len(p["epsilons"]) // 2]
    mine = [row for row in rows if row[1] == epsilon] if len(p["nodes"]) > 1 else rows
    at = lambda column: [(row[0], row[column]) for row in mine]
    series = [chart.Series("the theorem's bound", at(5), 1, "dashed", "cross"), chart.Series("exact deviation", at(4), 0, marker="none"),
              chart.Series("measured", at(3), 2, "dotted", "square")]
    panel = chart.Panel(f"Gini's mean difference, ε = {epsilon:g}", "members", "error", series, log_x=True)
    description = "Error of a statistic of pairs against the number of members: what is measured lies on the exact deviation, and the theorem's bound several times above both."
    paper.write(given, "figure.svg", chart.figure("Statistics of pairs, everybody's answer in the open", description, [panel]))


if __name__ == "__main__":
    main()
