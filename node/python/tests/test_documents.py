"""What documents show is run, the stubs are true, the types hold."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import murmuration

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


@pytest.mark.parametrize("module", ["", "questions", "pairs", "events", "runs", "documents"])
def test_examples_in_docstrings_hold(module):
    name = f"murmuration.{module}" if module else "murmuration"
    found = doctest.testmod(__import__(name, fromlist=["x"]), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


def test_the_examples_of_the_handbook_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(ROOT / "docs" / "PYTHON.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 10 and found.failed == 0


def test_what_the_readme_shows_runs():
    pytest.importorskip("pandas")
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("## From Python")[1].split("```python\n")[1].split("```")[0]
    # A real node needs others: test_trainers.py has some.
    lines = [line for line in block.splitlines() if not line.startswith("mm.Node(")]
    assert len(lines) == 5 and lines[0].startswith("import murmuration as mm")
    exec("\n".join(lines), {})


def test_the_stubs_say_what_the_module_has(tmp_path):
    pytest.importorskip("mypy")
    allow = HERE / "stubtest_allowed.txt"
    command = [sys.executable, "-m", "mypy.stubtest", "murmuration._core", "--allowlist", str(allow), "--ignore-unused-allowlist"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_types_hold(tmp_path):
    pytest.importorskip("mypy")
    source = Path(murmuration.__file__).parent
    config = HERE.parent / "pyproject.toml"
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), "--cache-dir", str(tmp_path), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_notebook_runs(tmp_path):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    import nbformat

    notebook = nbformat.read(ROOT / "examples" / "python" / "tour.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
