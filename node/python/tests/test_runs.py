"""Simulated runs are those of the program, in memory and in their folder."""

from __future__ import annotations

import os
import subprocess

import numpy as np
import pytest

import murmuration as mm


@pytest.fixture(scope="module")
def small():
    return {"nodes": 6, "rounds": 4}


def test_a_simulation_is_that_of_the_program_byte_for_byte(program, small, tmp_path):
    run = mm.simulate(set=small, out=tmp_path / "ours")
    flags = [part for key, value in small.items() for part in ("--set", f"{key}={value}")]
    subprocess.run([program, "sim", *flags, "--out", str(tmp_path / "theirs")], check=True, capture_output=True)
    (theirs,) = (tmp_path / "theirs").iterdir()
    assert run.folder is not None
    for name in ("metrics.csv", "config.toml", "log.jsonl"):
        assert (run.folder / name).read_bytes() == (theirs / name).read_bytes(), name
    again = mm.read(theirs)
    for name, column in run.metrics.items():
        np.testing.assert_array_equal(column, again.metrics[name])
    assert {**again.result, "run": ""} == {**run.result, "run": ""}
    assert again.config == run.config


def test_metrics_are_columns_and_every_figure_names_its_analysis(small):
    run = mm.simulate(set=small)
    assert run.folder is None and run.model is not None and run.model.dtype == np.float32
    assert run.metrics["round"].tolist() == [0, 1, 2, 3]
    assert (np.diff(run.metrics["epsilon_worst"]) >= 0).all()
    for name in ("worst", "mean", "local"):
        assert run.result.privacy[name]["analysis"]
    assert "analysis" in repr(run) and "analysis" in run._repr_html_()
    frame = pytest.importorskip("pandas") and run.to_pandas()
    assert list(frame["round"]) == [0, 1, 2, 3]
    again = mm.simulate(set=small, threads=1)
    assert again.model is not None and again.model.tobytes() == run.model.tobytes()


def test_a_report_and_an_audit_are_documents(program, small, tmp_path):
    run = mm.simulate(set=small, out=tmp_path)
    report = mm.report(run)
    assert report["guarantee"] and "iframe" in report._repr_html_() and "<html" in report.html
    # Attacks read sums in the clear.
    plain = mm.simulate(set={**small, "privacy.masking": "none"}, out=tmp_path / "plain")
    audit = mm.audit(plain, attack=["reconstruct"], trials=30)
    assert audit["verdict"] and "iframe" in audit._repr_html_()
    with pytest.raises(mm.MurmurError, match="no folder"):
        mm.report(mm.simulate(set=small))
    with pytest.raises(mm.MurmurError) as refused:
        mm.report(tmp_path / "nowhere")
    assert refused.value.hint


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(mm.MurmurError, match="not the folder of a run"):
        mm.read(tmp_path / "nowhere")
    with pytest.raises(mm.MurmurError, match="cannot read"):
        mm.read(tmp_path)
    with pytest.raises(mm.MurmurError, match="cannot read"):
        mm.simulate(tmp_path / "none.toml")


def test_a_real_swarm_is_read_as_a_simulation_is(program, tmp_path):
    words = ["swarm", "--nodes", "3", "--set", "rounds=5", "--out", str(tmp_path)]
    subprocess.run([program, *words], check=True, capture_output=True, env={**os.environ, "MURMUR_LEDGER": str(tmp_path / "ledger")})
    run = mm.read(tmp_path / "run")
    assert run.metrics["round"].tolist() == [0, 1, 2, 3, 4]
    # Every round is priced, and the last is what the run cost.
    assert (np.diff(run.metrics["epsilon_worst"]) >= 0).all()
    assert run.metrics["epsilon_worst"][-1] == run.result.privacy["worst"]["epsilon"]
    assert run.metrics["test_acc"][-1] == run.result["test_acc"]
