"""Figures of the package are those of the program to the bit, and those of published tables."""

from __future__ import annotations

import math

import pytest

import murmuration as mm


def test_every_field_of_an_account_is_that_of_the_program(cli):
    found = mm.account([mm.gaussian(1.0).sampled(0.01) * 1000, mm.laplace(20.0)], delta=1e-5)
    expected = cli(
        "privacy", "account", "--event", "gaussian:sigma=1,rate=0.01,count=1000", "--event", "laplace:scale=20", "--delta", "1e-5"
    )
    assert dict(found) == expected


def test_dp_sgd_costs_what_the_published_accountants_say():
    # privacy/testdata/dpsgd_epsilon.csv: PRV estimate 6.9073857, Rényi 7.4140253.
    found = mm.account(mm.gaussian(1.0).sampled(0.01) * 10_000, delta=1e-6)
    assert found.pld.epsilon == pytest.approx(6.9073857, rel=1e-4)
    assert found.renyi.epsilon == pytest.approx(7.4140253, rel=1e-3)
    assert found.best == "pld" and found.figure == found.pld.epsilon
    assert found.gaussian.status == "unsupported" and found.gaussian.epsilon is None


def test_a_release_without_protection_is_infinite():
    found = mm.account([mm.gaussian(1.0), mm.non_private()], delta=1e-5)
    assert found.best is None and found.figure == math.inf


def test_delta_can_be_asked_for_instead():
    # Published by DPBayes/PLD-Accountant: 0.010224911.
    found = mm.account(mm.gaussian(2.0).sampled(0.01) * 10_000, epsilon=1.0, accountants=["pld"])
    assert found.pld.delta == pytest.approx(0.010224911, rel=1e-3)
    assert len(found.accountants) == 1


def test_the_gaussian_of_balle_and_wang():
    assert mm.calibrate("ring:4", epsilon=1, delta=1e-5, analysis="local").sigma == pytest.approx(3.730631634815942, abs=1e-8)
    assert mm.gdp_epsilon(1 / 3.730631634815942, 1e-5) == pytest.approx(1.0, abs=1e-9)
    assert mm.gdp_delta(1.0, mm.gdp_epsilon(1.0, 1e-5)) == pytest.approx(1e-5, rel=1e-9)


def test_calibration_is_that_of_the_program_on_a_graph_at_hand_too(cli):
    expected = cli(
        "privacy", "calibrate", "--epsilon", "0.7", "--delta", "1e-6", "--topology", "karate", "--steps", "3", "--analysis", "rounds", "--per-node"
    )
    options = {"epsilon": 0.7, "delta": 1e-6, "steps": 3, "analysis": "rounds", "per_node": True}
    assert dict(mm.calibrate("karate", **options)) == expected
    assert dict(mm.calibrate(mm.Graph("karate"), **options)) == expected


def test_comparisons_and_conversions_are_those_of_the_program(cli):
    assert dict(mm.compare("ring:16", "hypercube:16")) == cli("privacy", "compare", "ring:16", "hypercube:16")
    assert dict(mm.convert(mu=1.0, alpha=8)) == cli("privacy", "convert", "--mu", "1", "--alpha", "8")
    assert dict(mm.convert(epsilon=1.0, delta=1e-5)) == cli("privacy", "convert", "--epsilon", "1", "--delta", "1e-5")


@pytest.mark.parametrize(
    ("ask", "message", "hint"),
    [
        (lambda: mm.account([], delta=1e-5), "no events", "event"),
        (lambda: mm.account(mm.gaussian(-1.0), delta=1e-5), "noise_multiplier", "sensitivity"),
        (lambda: mm.account(mm.gaussian(1.0), delta=2.0), "δ must lie between 0 and 1", "1e-5"),
        (lambda: mm.account(mm.gaussian(1.0)), "either delta or epsilon", "delta="),
        (lambda: mm.account(mm.gaussian(1.0), delta=1e-5, accountants=["magic"]), "magic", "pld"),
        (lambda: mm.convert(rho=1.0, to="mu"), "does not imply", "to="),
        (lambda: mm.convert(), "nothing to convert", "mu"),
        (lambda: mm.pairwise("rng:16", analysis="rounds"), "rng", "ring"),
        (lambda: mm.pairwise(analysis="rounds"), "nothing says who speaks", "topology="),
        (lambda: mm.pairwise("ring:6", analysis="rounds", sigma=0.0), "sigma= must be", "sigma="),
        (lambda: mm.pairwise("ring:6", analysis="rounds", rounds=2, steps=3), "consensus", "doubling"),
        (lambda: mm.Graph("tours:4x4"), "tours", "torus"),
        (lambda: mm.simulate(set={"privacy.epsilom": 2}), "epsilom", "epsilon"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(ask, message, hint):
    with pytest.raises(mm.MurmurError) as refused:
        ask()
    assert isinstance(refused.value, ValueError)
    assert message in str(refused.value) and refused.value.hint and hint in refused.value.hint
    assert "--" not in str(refused.value), "options are keywords here"


def test_unknown_options_are_refused():
    with pytest.raises(mm.MurmurError, match="epsylon"):
        mm.compare("ring:8", epsylon=1)
    with pytest.raises(TypeError):
        mm.pairwise("ring:8")  # type: ignore[call-arg]


def test_without_an_analysis_a_schedule_is_calibrated_by_rounds_and_all_else_by_local():
    scheduled = mm.calibrate(epsilon=1, delta=1e-5, of="worst", schedule="shuffled-doubling", nodes=64, rounds=100)
    assert scheduled.analysis == "rounds" and scheduled.worst <= 1 + 1e-6
    # Balle and Wang 2018.
    alone = mm.calibrate("ring:4", epsilon=1, delta=1e-5)
    assert alone.analysis == "local" and alone.sigma == pytest.approx(3.730631634815942, abs=1e-8)
