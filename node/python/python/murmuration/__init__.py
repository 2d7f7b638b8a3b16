"""Peer-to-peer learning with provable privacy: graphs, accounting, simulation and runs, from Python.

>>> import murmuration as mm
>>> pairs = mm.pairwise(mm.Graph("hypercube:16"), rounds=5, analysis="contractive", sigma=8.0)
>>> pairs.analysis, pairs.epsilon.shape
('contractive', (16, 16))
"""

from __future__ import annotations

from ._core import Graph, __version__, gdp_delta, gdp_epsilon
from ._errors import MurmurError
from .documents import Document, audit, report
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
from .node import Node, read_model, save_initial
from .runs import Run, read, simulate
from .trainers import Function, Trainer, serve


def __getattr__(name: str) -> object:
    """Adapters and callbacks are loaded when they are first asked for: they need packages of their own."""
    if name in ("flower", "jax", "log", "sklearn", "torch"):
        from importlib import import_module

        return import_module(f".{name}", __name__)
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
