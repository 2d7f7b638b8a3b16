"""Questions to the accountants that are answered by a few numbers. Options are named as on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from typing import Any, Protocol

from . import _core
from ._core import Graph
from ._errors import MurmurError
from .events import Event

_NOISE = ("sigma", "sensitivity", "delta")


class Answer(Mapping[str, Any]):
    """An answer: its fields are attributes and items, the same as in the JSON of the command line."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_fields"][name]
        except KeyError:
            raise AttributeError(f"this answer has no `{name}`; it has {', '.join(self)}") from None

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.items())
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self) -> str:
        return table_html((name, value) for name, value in self.items())


class Account(Answer):
    """What every accountant says; each is an attribute: ``.pld.epsilon``, ``.renyi.analysis``."""

    def __getattr__(self, name: str) -> Any:
        for entry in self.__dict__["_fields"]["accountants"]:
            if entry["name"] == name:
                return Answer(entry)
        return super().__getattr__(name)

    @property
    def figure(self) -> float:
        """The smallest bound; infinite where something was released without protection."""
        best, asked = self["best"], "epsilon" if self["epsilon"] is None else "delta"
        return float("inf") if best is None else float(getattr(self, best)[asked])

    def _repr_html_(self) -> str:
        rows = [(e["name"], e["epsilon"], e["delta"], e["reason"] or e["analysis"]) for e in self["accountants"]]
        return table_html(rows, ("accountant", "ε", "δ", "analysis"))


def table_html(rows: Iterable[tuple[Any, ...]], heading: tuple[str, ...] = ()) -> str:
    """A plain table for notebooks."""

    def line(cells: Iterable[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    head = f"<thead>{line(heading, 'th')}</thead>" if heading else ""
    return f"<table>{head}<tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"


def rounded_up(value: float) -> str:
    """Four significant digits, rounded up as losses are."""
    from decimal import ROUND_CEILING, Context, Decimal

    if value != value or value in (float("inf"), float("-inf")):
        return "–" if value != value else "∞"
    short = Context(prec=4, rounding=ROUND_CEILING).create_decimal(Decimal(value))
    return f"{float(short):g}" if abs(short) < 10_000 else f"{short:f}"


def bar(progress: bool | Callable[[int, int], object] | None) -> Callable[[int, int], object] | None:
    """``True`` is a line on stderr; a callable is called with (done, all), in the calling thread."""
    if progress is True:
        return _line
    return progress or None


def _line(done: int, all: int) -> None:
    import sys

    end = "\n" if done >= all else ""
    print(f"\r{done}/{all}", end=end, file=sys.stderr, flush=True)


class Networkx(Protocol):
    """A graph of networkx, or what looks like one."""

    @property
    def nodes(self) -> Any: ...
    @property
    def edges(self) -> Any: ...


def situation(options: dict[str, Any], graph: Graph | str | Networkx | None) -> tuple[dict[str, Any], Graph | None]:
    """The options that describe a situation, as its JSON form; a graph at hand goes beside it."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in ("path", "watcher", "coalition"):
        if name in given:
            value = given[name]
            given[name] = [int(value)] if isinstance(value, int) else [int(node) for node in value]
    if isinstance(graph, str):
        return {**given, "topology": graph}, None
    if graph is None or isinstance(graph, Graph):
        return given, graph
    if not (hasattr(graph, "nodes") and hasattr(graph, "edges")):
        hint = "give a description such as \"hypercube:64\", a Graph, or a graph of networkx"
        raise MurmurError(f"{type(graph).__name__} is no graph", hint)
    return given, Graph.from_networkx(graph)


def calibrate(
    graph: Graph | str | Networkx | None = None,
    *,
    epsilon: float,
    delta: float,
    analysis: str | None = None,
    of: str = "worst",
    sensitivity: float = 1.0,
    per_node: bool = False,
    threads: int = 0,
    progress: bool | Callable[[int, int], object] | None = None,
    **options: Any,
) -> Answer:
    """How much noise for a target (ε, δ)? Further options are those of :func:`murmuration.pairwise`.

    Without ``analysis``: ``rounds`` for a schedule, which is what a swarm runs, and elsewhere ``local``, which always holds. The answer names it.

    >>> import murmuration as mm
    >>> found = mm.calibrate("ring:4", epsilon=1, delta=1e-5, analysis="local")
    >>> round(found.sigma, 6), found.analysis
    (3.730632, 'local')
    """
    chosen = analysis or ("rounds" if options.get("schedule") else "local")
    described, at_hand = situation({"analysis": chosen, **options}, graph)
    question = {
        "question": "calibrate",
        "situation": described,
        "epsilon": float(epsilon),
        "delta": float(delta),
        "of": of,
        "per_node": per_node,
        "sensitivity": float(sensitivity),
    }
    answer = _core.ask(json.dumps(question), at_hand, threads=threads, progress=bar(progress))
    return Answer(json.loads(answer))


def account(
    events: Event | Iterable[Event],
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    accountants: Iterable[str] = (),
) -> Account:
    """What do these releases reveal, by every accountant? Give ``delta`` to learn ε, or ``epsilon`` to learn δ.

    >>> import murmuration as mm
    >>> found = mm.account([mm.gaussian(1.0).sampled(0.01) * 1000], delta=1e-5)
    >>> found.best, round(found.pld.epsilon, 2)
    ('pld', 1.83)
    """
    if (delta is None) == (epsilon is None):
        raise MurmurError("give either delta or epsilon", "for example delta=1e-5")
    listed = [events] if isinstance(events, Event) else list(events)
    question = {
        "question": "account",
        "events": [event.description for event in listed],
        "ask": {"delta_at": float(epsilon)} if epsilon is not None else {"epsilon_at": float(delta or 0.0)},
        "accountants": list(accountants),
    }
    return Account(json.loads(_core.ask(json.dumps(question))))


def compare(
    *graphs: str, threads: int = 0, progress: bool | Callable[[int, int], object] | None = None, **options: Any
) -> Answer:
    """Which graph? ε, steps and messages for the same final error.

    Options: ``tolerance``, ``weights``, ``accelerated``, ``largest_component``, ``watchers``, ``sigma``, ``sensitivity``, ``delta``.
    """
    noise = {name: float(options.pop(name)) for name in _NOISE if name in options}
    question = {"question": "compare", "graphs": list(graphs), "noise": noise, **options}
    answer = _core.ask(json.dumps(question), threads=threads, progress=bar(progress))
    return Answer(json.loads(answer))


def convert(*, delta: float = 1e-5, alpha: float = 2.0, to: str | None = None, **known: float) -> Answer:
    """μ, Rényi, zCDP and (ε, δ) into each other. Known is one of ``mu``, ``rho``, ``pure``, or ``epsilon`` (with ``delta``), or
    ``renyi_epsilon`` with ``renyi_alpha``.

    >>> import murmuration as mm
    >>> [(r["to"], r["kind"]) for r in mm.convert(mu=1.0).results][:2]
    [('mu', 'exact'), ('renyi', 'exact')]
    """
    source = _source({name: float(value) for name, value in known.items()}, float(delta))
    question = {"question": "convert", "from": source, "delta": float(delta), "alpha": float(alpha), "to": to}
    return Answer(json.loads(_core.ask(json.dumps(question))))


def _source(known: dict[str, float], delta: float) -> dict[str, Any]:
    match known:
        case {"mu": mu, **rest} if not rest:
            return {"kind": "mu", "mu": mu}
        case {"rho": rho, **rest} if not rest:
            return {"kind": "zcdp", "rho": rho}
        case {"pure": epsilon, **rest} if not rest:
            return {"kind": "pure", "epsilon": epsilon}
        case {"epsilon": epsilon, **rest} if not rest:
            return {"kind": "approximate", "epsilon": epsilon, "delta": delta}
        case {"renyi_epsilon": epsilon, "renyi_alpha": alpha, **rest} if not rest:
            return {"kind": "renyi", "alpha": alpha, "epsilon": epsilon}
    raise MurmurError("nothing to convert", "give mu, rho, pure, epsilon, or renyi_epsilon and renyi_alpha")
