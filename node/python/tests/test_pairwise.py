"""All pairs of a network: exact values, the program's figures, and what notebooks need."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import murmuration as mm


def test_one_peer_exponential_loses_two_to_the_minus_level_each_round():
    found = mm.pairwise(schedule="one-peer-exponential", nodes=16, rounds=5, analysis="rounds", sigma=2.0, sensitivity=3.0)
    for v in range(16):
        for u in set(range(16)) - {v}:
            expected = 5 * 2.25 / 2 ** ((u ^ v).bit_length() - 1)
            assert found.mu2[v, u] == pytest.approx(expected, rel=1e-9)
    assert np.isnan(np.diag(found.mu2)).all() and np.isnan(np.diag(found.epsilon)).all()


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"analysis": "rounds", "steps": 4}, ["--analysis", "rounds", "--steps", "4"]),
        ({"analysis": "rounds", "steps": 2, "message_noise": 0.1}, ["--analysis", "rounds", "--steps", "2", "--message-noise", "0.1"]),
        ({"analysis": "contractive", "rounds": 6, "method": "riccati"}, ["--analysis", "contractive", "--rounds", "6", "--method", "riccati"]),
        ({"analysis": "linear", "rounds": 4}, ["--analysis", "linear", "--rounds", "4"]),
        ({"analysis": "local", "rounds": 3, "sigma": 5.0}, ["--analysis", "local", "--rounds", "3", "--sigma", "5"]),
        ({"analysis": "published"}, ["--analysis", "published"]),
        ({"analysis": "walk", "rounds": 40, "samples": 10, "seed": 7}, ["--analysis", "walk", "--rounds", "40", "--samples", "10", "--seed", "7"]),
        ({"analysis": "rounds", "coalition": [0, 33]}, ["--analysis", "rounds", "--coalition", "0,33"]),
    ],
)
def test_every_figure_is_that_of_the_program_to_the_bit(cli, options, flags):
    expected = cli("privacy", "pairwise", "--topology", "karate", *flags)
    for graph in ("karate", mm.Graph("karate")):
        found = mm.pairwise(graph, **options)
        for name in ("mu2", "epsilon", "mu2_margin_95", "renyi_2_upper_95"):
            if name in expected:
                table = np.array([[np.nan if x is None else x for x in row] for row in expected[name]])
                np.testing.assert_array_equal(getattr(found, name), table)
        for name in ("analysis", "method", "guarantee", "assumes", "nodes", "steps", "rounds", "sigma", "delta"):
            assert getattr(found, name) == expected[name], name


def test_graphs_come_from_edges_and_from_networkx():
    edges = mm.Graph("karate").edges()
    again = mm.Graph.from_edges(34, edges)
    assert again.nodes == 34 and (again.edges() == edges).all()
    offsets, neighbours = again.csr()
    assert len(offsets) == 35 and len(neighbours) == 2 * len(edges) == offsets[-1]
    assert set(neighbours[offsets[0] : offsets[1]]) == {v for u, v in edges if u == 0}
    # Eigenvalues of I − W of a hypercube of d dimensions are 2k/(d + 1).
    assert mm.Graph("hypercube:64").spectral_gap() == pytest.approx(2 / 7)
    with pytest.raises(mm.MurmurError, match="node 5"):
        mm.Graph.from_edges(3, [(0, 5)])
    with pytest.raises(mm.MurmurError, match="-1"):
        mm.Graph.from_edges(3, [(0, -1)])
    with pytest.raises(mm.MurmurError, match="two ends"):
        mm.Graph.from_edges(3, [(0, 1, 2)])


class Triangle:
    """As much of networkx as is used."""

    def nodes(self):
        return ["ada", "bob", "cyd"]

    def edges(self):
        return [("ada", "bob"), ("cyd", "bob")]


def test_a_networkx_graph_keeps_the_names_of_its_nodes():
    graph = mm.Graph.from_networkx(Triangle())
    assert graph.labels == ["ada", "bob", "cyd"] and graph.edges().tolist() == [[0, 1], [1, 2]]
    found = mm.pairwise(graph, analysis="rounds")
    assert found.label(1) == "bob (1)"
    at_once = mm.pairwise(Triangle(), analysis="rounds")
    assert at_once.label(1) == "bob (1)" and at_once.mu2.tobytes() == found.mu2.tobytes()
    asked = {"epsilon": 1, "delta": 1e-5, "analysis": "rounds"}
    assert mm.calibrate(Triangle(), **asked).sigma == mm.calibrate(graph, **asked).sigma
    with pytest.raises(mm.MurmurError, match="list is no graph"):
        mm.pairwise([(0, 1)], analysis="rounds")


def facebook():
    """SNAP ego-Facebook, which is not ours to ship: beside the repository, or where ``MURMUR_SHARED`` says."""
    shared = Path(os.environ.get("MURMUR_SHARED", Path(__file__).resolve().parents[4] / "shared"))
    path = shared / "data/graphs/facebook_combined.txt.gz"
    if not path.is_file():
        pytest.skip(f"no {path.name} in ../shared/data/graphs")
    networkx = pytest.importorskip("networkx")
    return networkx.read_edgelist(path)


def test_the_graph_of_facebook_is_one_call_from_networkx():
    graph = facebook()
    found = mm.pairwise(graph, analysis="rounds", sigma=4.0)
    assert found.epsilon.shape == (4039, 4039) and found.analysis == "rounds"
    # With one step of Metropolis weights whoever is no neighbour sees nothing, and a neighbour sees w² / (σ² Σ w²) where w² is its weight.
    names = list(graph)
    ends = {name: at for at, name in enumerate(names)}
    assert np.count_nonzero(found.mu2 > 0) <= 2 * graph.number_of_edges()
    assert found.mu2[ends["0"], ends["1"]] > 0 and found.label(0) == f"{names[0]} (0)"
    by_hops = found.by_distance()
    assert by_hops[1]["max"] > 0 and all(at["max"] == 0 for hops, at in by_hops.items() if hops > 1)


def test_summaries_frames_and_pages():
    found = mm.pairwise("ring:6", steps=2, analysis="rounds")
    table = found.by_distance()
    assert {distance: at["pairs"] for distance, at in table.items()} == {1: 12, 2: 12, 3: 6}
    assert table[3]["max"] == 0.0, "two steps on a ring reach two nodes to each side"
    watchers, node, epsilon = found.worst
    assert epsilon == np.nanmax(found.epsilon) == found.epsilon[watchers[0], node]
    assert "analysis rounds" in repr(found) and "Assumes" in found._repr_html_()
    frame = pytest.importorskip("pandas") and found.to_pandas()
    assert list(frame.columns) == ["watcher", "source", "distance", "mu2", "epsilon"] and len(frame) == 30
    assert mm.Graph("ring:6")._repr_html_().startswith("<svg")


def test_shown_losses_are_never_rounded_down():
    from murmuration.questions import rounded_up

    assert [rounded_up(x) for x in (2.44492, 1.0, 0.123401, 99991.0, float("inf"))] == ["2.445", "1", "0.1235", "100000", "∞"]


def test_pictures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert len(mm.pairwise("ring:8", analysis="rounds").plot().axes) >= 2
