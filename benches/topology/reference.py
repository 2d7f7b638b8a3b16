"""The same answers as `murmur topology SPEC --format json`, with networkx and scipy.

Usage: python reference.py hypercube:2048 | grid:45x45 | file:PATH  [--no-distances]

Prints JSON: the answers, and wall and CPU seconds from after the imports to the end (`inside`).
Distances come from scipy.sparse.csgraph, which is many times faster than networkx's own search.
"""

import json
import sys
import time

import networkx as nx
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import eigsh


def build(spec):
    family, _, size = spec.partition(":")
    if family == "hypercube":
        return nx.hypercube_graph(int(size).bit_length() - 1)
    if family == "grid":
        rows, columns = size.split("x")
        return nx.grid_2d_graph(int(rows), int(columns))
    if family == "file":
        return nx.read_edgelist(size)
    sys.exit(f"unknown graph: {spec}")


def metropolis(adjacency, degree):
    coo = adjacency.tocoo()
    weights = 1.0 / (1.0 + np.maximum(degree[coo.row], degree[coo.col]))
    beside = sp.csr_array((weights, (coo.row, coo.col)), shape=coo.shape)
    return (beside + sp.diags_array(1.0 - beside.sum(axis=1))).tocsr()


def main():
    spec, distances = sys.argv[1], "--no-distances" not in sys.argv
    start, cpu = time.perf_counter(), time.process_time()
    graph = build(spec)
    adjacency = sp.csr_array(nx.to_scipy_sparse_array(graph, dtype=float))
    degree = adjacency.sum(axis=1)
    matrix = metropolis(adjacency, degree)
    lambda2 = float(np.sort(eigsh(matrix, k=2, which="LA", return_eigenvectors=False))[0])
    lambda_min = float(eigsh(matrix, k=1, which="SA", return_eigenvectors=False)[0])
    contraction = max(abs(lambda2), abs(lambda_min))
    answers = {
        "nodes": graph.number_of_nodes(),
        "edges": graph.number_of_edges(),
        "degree": {"min": degree.min(), "mean": degree.mean(), "max": degree.max()},
        "connected": nx.is_connected(graph),
        "lambda2": lambda2,
        "lambda_min": lambda_min,
        "spectral_gap": 1.0 - lambda2,
        "mixing_rounds": int(np.ceil(np.log(1e-3) / np.log(contraction))),
        "chebyshev_rounds": int(np.ceil(np.arccosh(1e3) / np.arccosh(1.0 / contraction))),
    }
    if distances:
        hops = shortest_path(adjacency, unweighted=True)
        nodes = graph.number_of_nodes()
        answers["diameter"] = int(hops.max())
        answers["mean_distance"] = float(hops.sum() / (nodes * (nodes - 1)))
    answers["inside"] = [time.perf_counter() - start, time.process_time() - cpu]
    print(json.dumps(answers))


main()
