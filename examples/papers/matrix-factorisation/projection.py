"""The paper's loss from its definition, for graphs that are small enough: plain Python, no `murmur`.

Contributions z_w(s) of n nodes in T rounds are n·T coordinates. A message of w in round t is Σ_{s ≤ t} (W^(t−s) z(s))_w, and the attacker also knows
its own contributions. With Q an orthonormal basis of what it knows, X_u(s, t) = Σ_i Q_i,u(s) Q_i,u(t), and the loss of u at order 2 is
Σ_{s,t} |X_u(s, t)|.
"""
import math


def uniform_weights(near):
    """Rows of A + I, each divided by its sum: [(node, weight), …]."""
    return [[(other, 1 / (1 + len(others))) for other in sorted([node, *others])] for node, others in enumerate(near)]


def losses(near, rounds, attacker):
    nodes, weights = len(near), uniform_weights(near)
    rows = [unit(nodes * rounds, s * nodes + attacker) for s in range(rounds)]
    for node in near[attacker]:
        rows += messages(weights, node, nodes, rounds)
    basis = orthonormal(rows)
    return [None if u == attacker else absolute_sum(basis, u, nodes, rounds) for u in range(nodes)]


def unit(length, place):
    row = [0.0] * length
    row[place] = 1.0
    return row


def messages(weights, node, nodes, rounds):
    """Coefficients of the node's messages of all rounds: powers of W, row `node`, one contribution after the other."""
    power, powers = unit(nodes, node), []
    for _ in range(rounds):
        powers.append(power)
        following = [0.0] * nodes
        for u, value in enumerate(power):
            for other, weight in weights[u] if value else ():
                following[other] += value * weight
        power = following
    return [sum((powers[t - s] for s in range(t + 1)), []) + [0.0] * (nodes * (rounds - 1 - t)) for t in range(rounds)]


def orthonormal(rows):
    """Gram and Schmidt, each row twice, which keeps the basis orthogonal to rounding."""
    basis = []
    for row in rows:
        before = math.sqrt(dot(row, row))
        for _ in range(2):
            for known in basis:
                share = dot(known, row)
                row = [x - share * y for x, y in zip(row, known)]
        left = math.sqrt(dot(row, row))
        if left > 1e-10 * before:
            basis.append([x / left for x in row])
    return basis


def absolute_sum(basis, u, nodes, rounds):
    own = [[row[s * nodes + u] for s in range(rounds)] for row in basis]
    return math.fsum(abs(math.fsum(row[s] * row[t] for row in own)) for s in range(rounds) for t in range(rounds))


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))
