"""Reports and audits: what the program `murmur` writes, as dictionaries of its JSON schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from ._binary import murmur
from .runs import Run, _value


class Document(dict[str, Any]):
    """A dictionary with a page to look at in notebooks."""

    html: str = ""

    def _repr_html_(self) -> str:
        from html import escape

        page = self.html or f"<pre>{escape(json.dumps(self, indent=1, ensure_ascii=False))}</pre>"
        return f'<iframe srcdoc="{escape(page)}" width="100%" height="600"></iframe>'


def report(
    run: str | PathLike[str] | Run, *, node: int | None = None, coalition: Sequence[int] = (), with_loss: bool = False
) -> Document:
    """What a run cost, pair by pair, from its log and ledgers (``murmur report --format json``)."""
    options = ["report", _folder(run)]
    options += [] if node is None else ["--node", str(node)]
    options += ["--coalition", ",".join(map(str, coalition))] if coalition else []
    options += ["--with-loss"] if with_loss else []
    document = Document(json.loads(murmur([*options, "--format", "json"])))
    document.html = murmur([*options, "--format", "html"])
    return document


def audit(
    run: str | PathLike[str] | Run | None = None,
    set: Mapping[str, Any] | None = None,
    *,
    attack: Sequence[str] = (),
    trials: int | None = None,
    confidence: float | None = None,
    pair: tuple[int, int] | None = None,
    coalition: Sequence[int] = (),
    seed: int | None = None,
    threads: int = 0,
) -> Document:
    """Attacks on a run or a configuration: lower bounds on ε beside the account's upper bound (``murmur audit --format json``)."""
    options = ["audit"] + ([] if run is None else [_folder(run)])
    options += [part for key, value in (set or {}).items() for part in ("--set", f"{key}={_value(value)}")]
    options += [part for name in attack for part in ("--attack", name)]
    for flag, value in (("trials", trials), ("confidence", confidence), ("seed", seed)):
        options += [] if value is None else [f"--{flag}", str(value)]
    options += [] if pair is None else ["--pair", f"{pair[0]},{pair[1]}"]
    options += ["--coalition", ",".join(map(str, coalition))] if coalition else []
    # 1 is a verdict, not a failure: a lower bound lies above the account.
    return Document(json.loads(murmur([*options, "--threads", str(threads), "--format", "json"], accept=(0, 1))))


def _folder(run: str | PathLike[str] | Run) -> str:
    from ._errors import MurmurError

    if not isinstance(run, Run):
        return fspath(run)
    if run.folder is None:
        raise MurmurError("this run has no folder", "simulate with out=\"runs\" to keep one")
    return fspath(run.folder)
