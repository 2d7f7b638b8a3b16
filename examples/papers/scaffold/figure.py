#!/usr/bin/env python3
"""Why the account of DP-SCAFFOLD (Noble, Bellet, Dieuleveut 2022) does not carry over to totals without a server: own noise that comes back.

    examples/papers/scaffold/figure.py [--murmur PATH] [--small]

Writes losses.csv, refused.csv and figure.svg, prints the table of the README, and fails where `murmur` would run it as if the account held.
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import chart
import paper


def loss(members, gain):
    """What two totals tell of one member's first contribution, noise of deviation 1 each: S1 = x + Σ z, and in S2 all others add fresh noise and `gain` times their old one.

    With the covariance [[n, g(n−1)], [g(n−1), n + g²(n−1)]] and the change (1, 0) it is the first entry of the inverse.
    """
    n, others = members, members - 1
    first, cross, second = n, gain * others, n + gain * gain * others
    return second / (first * second - cross * cross)


def refused(given, *settings):
    """Whether `murmur sim` refuses a configuration, and by which words."""
    words = [word for setting in settings for word in ("--set", setting)]
    with tempfile.TemporaryDirectory() as folder:
        command = [given.murmur, "sim", *words, "--out", f"{folder}/run"]
        done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode != 0, done.stderr


def main():
    given = paper.arguments(__doc__, HERE)
    p = given.parameters
    rows = [[members, gain, 1 / members, loss(members, gain), loss(members, gain) * members] for members in p["members"] for gain in p["gains"]]
    paper.write_csv(given, "losses.csv", ["members", "gain", "claimed", "true", "ratio"], rows)
    paper.markdown(["members", "gain", "one total tells", "both tell", "times"], rows)

    node = ("nodes=8", "rounds=4", "privacy.unit=node", "privacy.masking=none", "local.scaffold=true")
    table = []
    for target in ("worst", "local"):
        no, words = refused(given, *node, f"privacy.target={target}")
        table.append([target, "refused" if no else "runs", int("own noise back" in words)])
    paper.write_csv(given, "refused.csv", ["target", "murmur", "names_the_rule"], table)
    draw(given, p)
    wrong = [one for one in p["vectors"] if abs(loss(one["members"], one["gain"]) - one["mu2"]) > 1e-9]
    if wrong or table[0][1:] != ["refused", 1]:
        sys.exit(f"error: {wrong or table}")


def draw(given, p):
    gains = [10 ** (at / 10 - 1) for at in range(31)]
    series = [chart.Series(f"{members} members", [(gain, loss(members, gain)) for gain in gains], at, marker="none") for at, members in enumerate(p["members"])]
    panel = chart.Panel("What two totals tell of one contribution", "how much old noise comes back", "μ², 1 is everything", series, log_x=True)
    description = ("The loss of one contribution after the next total, against the gain with which others' old noise enters it: at no gain it is one over the number of members, and it rises to the local loss, whatever their number.")
    paper.write(given, "figure.svg", chart.figure("Own noise that comes back", description, [panel]))


if __name__ == "__main__":
    main()
