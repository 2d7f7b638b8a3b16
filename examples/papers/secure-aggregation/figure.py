#!/usr/bin/env python3
"""What secure aggregation with a server costs (Bonawitz et al. 2017), beside masked rounds among members: bytes, and what a lost member costs.

    examples/papers/secure-aggregation/figure.py [--murmur PATH] [--small]

Writes published.csv, bytes.csv, lost.csv and figure.svg, prints the tables of the README, and fails where a published figure does not come out.
"""
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import chart
import paper

# Bits of a public key and of a share, as the paper counts them.
KEY, SHARE = 256, 256
WORD = 32


def sent_to_server(users, values, bits):
    """2n·a_K + (5n − 4)·a_S + m·⌈log₂(n(R_U − 1) + 1)⌉ bits, the cost of one user."""
    word = (users * (2 ** bits - 1)).bit_length()
    return 2 * users * KEY + (5 * users - 4) * SHARE + values * word


def to_user(users, values, bits):
    """The total comes back to everybody, since a model is to be trained."""
    return values * (users * (2 ** bits - 1)).bit_length()


def doubling(members, values):
    """Every member sends all words in each of log₂ n steps."""
    return math.ceil(math.log2(members)) * values * WORD


def halving(members, values):
    """Halves, quarters … and back: 2(1 − 1/n) times all words."""
    return 2 * (1 - 1 / members) * values * WORD


def main():
    given = paper.arguments(__doc__, HERE)
    p = given.parameters
    published = []
    for one in p["published"]:
        factor = sent_to_server(one["users"], one["values"], one["bits"]) / (one["values"] * one["bits"])
        published.append([one["users"], one["values"], one["factor"], factor])
    paper.write_csv(given, "published.csv", ["users", "values", "published", "factor"], published)
    paper.markdown(["users", "values", "published", "its formula"], published)

    plain = p["values"] * p["bits"]
    rows = []
    for members in p["members"]:
        up, down = sent_to_server(members, p["values"], p["bits"]), to_user(members, p["values"], p["bits"])
        rows.append([members, up / plain, (up + down) / plain, members * (up + down) / plain, doubling(members, p["values"]) / plain, halving(members, p["values"]) / plain])
    header = ["members", "user_up", "user_both", "server", "doubling", "halving"]
    paper.write_csv(given, "bytes.csv", header, rows)
    paper.markdown(["members", "user → server", "user, both ways", "server, both ways", "member, doubling", "member, halving"], rows)

    # Rounds that must be made until one succeeds, where each member vanishes with this probability in the middle of one.
    lost = [[members, loss, (1 - loss) ** -members] for members in p["members"] for loss in p["losses"]]
    paper.write_csv(given, "lost.csv", ["members", "loss", "rounds"], lost)
    draw(given, p, rows, lost)
    wrong = [row for row in published if abs(row[3] - row[2]) > 0.005]
    if wrong:
        sys.exit(f"error: the formula does not give the published factor: {wrong}")


def draw(given, p, rows, lost):
    at = lambda column: [(row[0], row[column]) for row in rows]
    left = chart.Panel("Sent, over a vector of 16-bit numbers", "members", "times the vector", [
        chart.Series("user to and from the server", at(2), 0, "dashed", "cross"), chart.Series("the server", at(3), 5, "dotted", "none"),
        chart.Series("member, doubling", at(4), 1, "solid", "square"), chart.Series("member, halving", at(5), 2)], log_x=True)
    series = [chart.Series(f"lost with probability {loss:g}", [(row[0], row[2]) for row in lost if row[1] == loss], 1 + number)
              for number, loss in enumerate(p["losses"])]
    right = chart.Panel("Rounds until one is whole, without recovery", "members", "rounds", series, log_x=True)
    description = ("Left: what a participant sends over a vector of 16-bit numbers; by halving a member sends about four times the vector whatever the number of members, a user of a server "
                   "about three and a half; the server carries everybody's. Right: rounds to be made until nobody is lost in one, small while members times probability is small.")
    paper.write(given, "figure.svg", chart.figure("Totals with and without a server", description, [left, right]))


if __name__ == "__main__":
    main()
