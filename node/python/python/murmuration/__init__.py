"""Peer-to-peer learning with provable privacy: graphs, accounting, simulation and runs, from Python.

>>> import murmuration as mm
>>> pairs = mm.pairwise(mm.Graph("hypercube:16"), rounds=5, analysis="contractive", sigma=8.0)
>>> pairs.analysis, pairs.epsilon.shape
('contractive', (16, 16))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._core import Graph, __version__, gdp_delta, gdp_epsilon
from ._errors import MurmurError
from .events import (
    Event,
    approximate,
    d_private,
    gaussian,
    laplace,
    non_private,
    pure,
    randomized_response,
    sequence,
    zcdp,
)
from .questions import Account, Answer, account, calibrate, compare, convert
from .pairs import Pairwise, pairwise
from .runs import Run, read, simulate
from .trainers import Function, Trainer, serve


if TYPE_CHECKING:
    from .documents import Document, audit, report
    from .node import Node, read_model, save_initial

#: What starts processes, and where it is: its modules take longer to load than all else.
_LATER = {
    "Document": "documents",
    "audit": "documents",
    "report": "documents",
    "Node": "node",
    "read_model": "node",
    "save_initial": "node",
}


def __getattr__(name: str) -> object:
    """Adapters and callbacks are loaded when they are first asked for: they need packages of their own. So are nodes."""
    from importlib import import_module

    if name in ("flower", "jax", "log", "sklearn", "torch"):
        return import_module(f".{name}", __name__)
    if name in _LATER:
        globals()[name] = found = getattr(import_module(f".{_LATER[name]}", __name__), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Account",
    "Answer",
    "Document",
    "Event",
    "Function",
    "Graph",
    "MurmurError",
    "Node",
    "Pairwise",
    "Run",
    "Trainer",
    "__version__",
    "account",
    "approximate",
    "audit",
    "calibrate",
    "compare",
    "convert",
    "d_private",
    "gaussian",
    "gdp_delta",
    "gdp_epsilon",
    "laplace",
    "non_private",
    "pairwise",
    "pure",
    "randomized_response",
    "read",
    "read_model",
    "report",
    "save_initial",
    "sequence",
    "serve",
    "simulate",
    "zcdp",
]
