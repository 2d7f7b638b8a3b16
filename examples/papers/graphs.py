"""Graphs as lists of neighbours, for what a script walks over or checks by hand."""
import json

import paper


def neighbours(given, spec):
    """Who is joined to whom, as `murmur` numbers the nodes of the graph's largest component."""
    found = json.loads(paper.run(given, "topology", spec, "--largest-component", "--format", "node-link"))
    near = [[] for _ in found["nodes"]]
    for edge in found["edges"]:
        near[edge["source"]].append(edge["target"])
        near[edge["target"]].append(edge["source"])
    return near


def metropolis_walk(near, steps, draw):
    """A path of the token: from u to a neighbour v with probability 1/(1 + max(d_u, d_v)), else it stays."""
    node = draw.randrange(len(near))
    path = [node]
    while len(path) < steps:
        other = draw.choice(near[node])
        if draw.random() < len(near[node]) / (1 + max(len(near[node]), len(near[other]))):
            node = other
        path.append(node)
    return path
