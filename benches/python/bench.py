"""The Python package beside the program, numpy, dp-accounting and Flower, in one run, with the targets beside.

    scripts/wheel && pip install dist/murmuration_dp-*.whl numpy dp-accounting==0.6.0 'flwr[simulation]'
    cargo build --release -p murmur-node -p murmuration-learn -p murmuration-runtime --bin murmur --example rows --example trainer
    python benches/python/bench.py [--wheel dist/….whl] [--seconds 2]

`MURMUR_PROFILE=debug` measures the programs of that folder, where numeric crates are optimised and the rest is not.
Every figure is the best of many in the time given. What is not installed is named and its rows are left out.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import murmuration as mm

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target"))
RELEASE = TARGET / os.environ.get("MURMUR_PROFILE", "release")
ROWS = 256


def best(call, seconds, times=1):
    """The shortest of many calls, in seconds; `times` of them are timed together."""
    found, begun = float("inf"), time.perf_counter()
    while time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        for _ in range(times):
            call()
        found = min(found, (time.perf_counter() - start) / times)
    return found


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def row(what, target, figure):
    print(f"| {what} | {target} | {figure} |", flush=True)


def calls(seconds):
    graph = mm.Graph("hypercube:64")

    def empty():
        pass

    one, attribute, nothing = (
        best(lambda: mm.gdp_epsilon(1.0, 1e-5), seconds, 1000),
        best(lambda: graph.nodes, seconds, 1000),
        best(lambda: empty(), seconds, 1000),
    )
    row("call `gdp_epsilon`", "≤ 3 µs", f"{1e6 * one:.2f} µs")
    row("attribute", "≤ 3 × an empty call", f"{attribute / nothing:.2f} ×")


def processor_seconds(call):
    """Of this process and its children: what else the machine does counts little."""
    used = lambda: sum(part.ru_utime + part.ru_stime for part in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))  # noqa: E731
    start = used()
    call()
    return used() - start


def pairwise(seconds):
    spec, options = "hypercube:512", {"analysis": "rounds", "steps": 9}
    flags = ["--analysis", "rounds", "--steps", "9"]
    command = [RELEASE / "murmur", "privacy", "pairwise", "--topology"]
    calls = [lambda: mm.pairwise(spec, **options), lambda: output(*command, spec, *flags), lambda: output(*command, "hypercube:4", *flags)]
    inside, outside, start = map(min, zip(*([processor_seconds(call) for call in calls] for _ in range(3))))
    row("`pairwise` of 512 nodes against the program, its start taken off (processor time)", "≤ 1.05 ×", f"{inside / (outside - start):.2f} × ({inside:.2f} s)")


def pld(seconds):
    try:
        from dp_accounting import dp_event
        from dp_accounting.pld import PLDAccountant
    except ImportError:
        return row("PLD", "≥ 10 × dp-accounting", "dp-accounting is not installed")
    for rate, sigma, steps in [(0.01, 1.0, 1000), (256 / 60000, 1.1, 14062), (1.0, 30.0, 1000)]:

        def theirs():
            accountant = PLDAccountant()
            accountant.compose(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma)), steps)
            return accountant.get_epsilon(1e-5)

        def ours():
            event = mm.gaussian(sigma) if rate == 1.0 else mm.gaussian(sigma).sampled(rate)
            return mm.account([event * steps], delta=1e-5, accountants=["pld"]).pld.epsilon

        assert abs(ours() / theirs() - 1) < 0.02
        row(f"PLD, q = {rate:.4g}, σ = {sigma}, {steps} steps", "≥ 10 × faster than dp-accounting", f"{best(theirs, seconds) / best(ours, seconds):.0f} ×")


def clipping(seconds):
    draw = np.random.default_rng(1)
    for width in (650, 7_850, 101_770):
        rows = draw.standard_normal((ROWS, width), dtype=np.float32)

        def step():
            norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            total = np.minimum(1, 1 / np.maximum(norms, 1e-12)).astype(np.float32) @ rows
            return (total + draw.standard_normal(width, dtype=np.float32)) / ROWS

        theirs, ours = 1e3 * best(step, seconds), float(output(RELEASE / "examples/rows", width, seconds))
        row(f"clip, sum, noise of {ROWS} rows × {width:,}", "≥ 2 × faster than numpy", f"{theirs / ours:.1f} × ({ours:.2f} ms)")


def socket(seconds):
    for kind, parameters, target in [("update", 100_000, 0.5), ("update", 1_000_000, 3.0), ("rows", 7_850, 4.0)]:
        command = f"'{sys.executable}' '{HERE / 'trainer.py'}' {parameters}"
        found = float(output(RELEASE / "examples/trainer", kind, ROWS, seconds, command))
        what = f"{ROWS} rows × {parameters:,} over the socket, clipped and added" if kind == "rows" else f"trainer round trip, {parameters:,} parameters"
        row(what, f"≤ {target} ms", f"{found:.2f} ms")


class Line(mm.Trainer):
    """As little as a trainer can do: the engines are compared, and not numpy with itself."""

    tensors, records = {"w": (100,)}, 100

    def update(self, params, *, round, seed):
        return 0.1 * (np.ones(100, dtype=np.float32) - params)


def flower_rounds(nodes, rounds):
    """Node-rounds per second of Flower's own simulation with the same client."""
    import flwr
    from flwr.client import ClientApp, NumPyClient
    from flwr.server import ServerApp, ServerAppComponents, ServerConfig
    from flwr.server.strategy import FedAvg
    from flwr.simulation import run_simulation

    class Client(NumPyClient):
        def fit(self, parameters, config):
            return [parameters[0] + 0.1 * (1 - parameters[0])], 100, {}

    def server(context):
        first = flwr.common.ndarrays_to_parameters([np.zeros(100, dtype=np.float32)])
        strategy = FedAvg(fraction_fit=1.0, fraction_evaluate=0.0, min_fit_clients=nodes, min_available_clients=nodes, initial_parameters=first)
        return ServerAppComponents(strategy=strategy, config=ServerConfig(num_rounds=rounds))

    start = time.perf_counter()
    run_simulation(
        server_app=ServerApp(server_fn=server),
        client_app=ClientApp(client_fn=lambda context: Client().to_client()),
        num_supernodes=nodes,
        backend_config={"client_resources": {"num_cpus": 1}},
    )
    return time.perf_counter() - start


def simulated():
    def ours(rounds):
        start = time.perf_counter()
        mm.simulate(set={"nodes": 8, "rounds": rounds, "privacy.unit": "node", "privacy.noise_multiplier": 1.0}, trainer=lambda node: Line())
        return time.perf_counter() - start

    # Starts are taken off: the difference of two lengths counts.
    our_rate = 8 * 900 / (ours(1000) - ours(100))
    try:
        their_rate = 8 * 20 / (flower_rounds(8, 30) - flower_rounds(8, 10))
    except ImportError:
        return row("simulated node-rounds a second with a numpy trainer", "≥ 20 × Flower", f"{our_rate:,.0f}; Flower is not installed")
    row("simulated node-rounds a second with a numpy trainer", "≥ 20 × Flower", f"{our_rate / their_rate:.0f} × ({our_rate:,.0f} against {their_rate:,.0f})")


def package(wheel):
    place = str(Path(mm.__file__).parents[1])
    import_it = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {place!r}); import murmuration; assert 'numpy' not in sys.modules"]
    empty = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {place!r})"]
    took = min(processor_seconds(lambda: output(*import_it)) for _ in range(9)) - min(processor_seconds(lambda: output(*empty)) for _ in range(9))
    row("import without numpy (processor time)", "≤ 20 ms", f"{1e3 * took:.1f} ms")
    if wheel:
        row("wheel with the program", "≤ 12 MB", f"{Path(wheel).stat().st_size / 1e6:.1f} MB")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=2.0)
    arguments.add_argument("--wheel")
    arguments.add_argument("--without-flower", action="store_true")
    given = arguments.parse_args()
    print("| what | target | found |\n|---|---|---|")
    calls(given.seconds)
    pairwise(given.seconds)
    pld(given.seconds)
    clipping(given.seconds)
    socket(given.seconds)
    package(given.wheel)
    if not given.without_flower:
        simulated()


if __name__ == "__main__":
    main()
