"""Private training steps: this project, Opacus, numpy and plain torch, in one run.

    node/learn/scripts/make-venv --torch
    cargo build --release -p murmuration-learn --example private_step
    node/learn/scripts/.venv/bin/python benches/learn/bench.py [--rounds 5] [--seconds 1]

Each contender takes steps on one batch of 256 in memory: gradient, clipping to norm 1, noise of multiplier 1, plain SGD
update. Contenders take turns and the best of all rounds counts. First on one thread each, by processor time, which is
meaningful on a busy machine too; then on all cores by the wall clock. Prints the tables of README.md.
"""

import argparse
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import opacus
import torch
from opacus import GradSampleModule
from opacus.grad_sample import GradSampleModuleFastGradientClipping
from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping
from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
from torch import nn

warnings.filterwarnings("ignore")
BATCH, CLIP, NOISE, RATE = 256, 1.0, 1.0, 0.01
HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target"))
OURS = TARGET / "release" / "examples" / "private_step"
INPUTS = {"softmax": 64, "mlp": 784, "cnn": 784}


def network(name):
    if name == "softmax":
        return nn.Sequential(nn.Linear(64, 10))
    if name == "mlp":
        return nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        nn.Conv2d(1, 16, 8, 2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10),
    )


def batch(name):
    generator = torch.Generator().manual_seed(1)
    return torch.rand(BATCH, INPUTS[name], generator=generator), torch.arange(BATCH) % 10


def torch_plain(name):
    model, (x, y) = network(name), batch(name)
    optimiser, loss = torch.optim.SGD(model.parameters(), lr=RATE), nn.CrossEntropyLoss()

    def step():
        optimiser.zero_grad()
        loss(model(x), y).backward()
        optimiser.step()

    return step


def opacus_mode(name, mode):
    (x, y), loss = batch(name), nn.CrossEntropyLoss()
    settings = {"noise_multiplier": NOISE, "max_grad_norm": CLIP, "expected_batch_size": BATCH}
    if mode == "ghost":
        model = GradSampleModuleFastGradientClipping(network(name), max_grad_norm=CLIP, use_ghost_clipping=True)
        optimiser = DPOptimizerFastGradientClipping(torch.optim.SGD(model.parameters(), lr=RATE), **settings)
        loss = DPLossFastGradientClipping(model, optimiser, loss)
    else:
        if mode == "functorch":
            model = GradSampleModule(network(name), force_functorch=True)
        elif mode == "ew":
            from opacus.grad_sample import GradSampleModuleExpandedWeights

            model = GradSampleModuleExpandedWeights(network(name))
        else:
            model = GradSampleModule(network(name))
        optimiser = DPOptimizer(torch.optim.SGD(model.parameters(), lr=RATE), **settings)

    def step():
        optimiser.zero_grad()
        loss(model(x), y).backward()
        optimiser.step()

    return step


def numpy_loop(name):
    """Norms from activations and back-signals, all examples at once."""
    x, y = (part.numpy() for part in batch(name))
    widths = {"softmax": [64, 10], "mlp": [784, 128, 10]}[name]
    random = np.random.default_rng(1)
    layers = [
        [random.normal(0, 0.05, (i, o)).astype(np.float32), np.zeros(o, np.float32)]
        for i, o in zip(widths, widths[1:])
    ]
    rows = np.arange(BATCH)

    def step():
        inputs = [x]
        for index, (w, b) in enumerate(layers):
            z = inputs[-1] @ w + b
            inputs.append(np.maximum(z, 0) if index + 1 < len(layers) else z)
        p = np.exp(inputs[-1] - inputs[-1].max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        p[rows, y] -= 1
        signals = [p]
        for index in range(len(layers) - 1, 0, -1):
            signals.insert(0, (signals[0] @ layers[index][0].T) * (inputs[index] > 0))
        squares = sum(
            (np.einsum("ij,ij->i", a, a) + 1) * np.einsum("ij,ij->i", d, d) for a, d in zip(inputs, signals)
        )
        factor = np.minimum(1, CLIP / np.sqrt(squares))[:, None]
        for (w, b), a, d in zip(layers, inputs, signals):
            d = d * factor
            for param, total in ((w, a.T @ d), (b, d.sum(0))):
                noise = random.standard_normal(param.shape, dtype=np.float32)
                param -= RATE / BATCH * (total + NOISE * CLIP * noise)

    return step


def rate(step, seconds, threads):
    """Samples per second: of the wall clock on all threads, of processor time on one."""
    torch.set_num_threads(threads)
    for _ in range(3):
        step()
    clock = time.process_time if threads == 1 else time.perf_counter
    start, steps = clock(), 0
    while clock() - start < seconds:
        step()
        steps += 1
    return steps * BATCH / (clock() - start)


def ours(name, mode, seconds, threads):
    environment = os.environ | {"RAYON_NUM_THREADS": str(threads)}
    start, before = time.perf_counter(), os.times().children_user
    done = subprocess.run(
        [OURS, name, mode, str(seconds)], check=True, capture_output=True, text=True, env=environment
    )
    wall_rate, took = float(done.stdout), time.perf_counter() - start
    if threads > 1:
        return wall_rate
    # On one thread the processor was ours for this share of the wall clock.
    return wall_rate * took / max(os.times().children_user - before, 1e-9)


def contenders(name, threads):
    table = {
        f"murmuration {mode}": (lambda s, mode=mode: ours(name, mode, s, threads))
        for mode in ("plain", "clip", "private", "noise")
    }
    steps = {"torch plain": lambda: torch_plain(name)}
    for mode in ("hooks", "functorch", "ew", "ghost"):
        steps[f"opacus {mode}"] = lambda mode=mode: opacus_mode(name, mode)
    if name != "cnn":
        steps["numpy"] = lambda: numpy_loop(name)
    for label, build in steps.items():
        try:
            step = build()
            step()
        except Exception as error:  # a mode that this version does not have or cannot do
            print(f"  {name}: {label} does not run: {str(error).splitlines()[0][:100]}")
            continue
        table[label] = lambda s, step=step: rate(step, s, threads)
    return table


def row(name, best):
    opacus_best = max((value, label) for label, value in best.items() if label.startswith("opacus"))
    private, plain, clip = (best[f"murmuration {mode}"] for mode in ("private", "plain", "clip"))
    show = lambda value: f"{value / 1e6:.3f}" if value else "–"
    ratio = lambda other: f"{private / other:.1f}" if other else "–"
    # Per sample: the time of the noise beside the time of the whole step.
    share = private / best["murmuration noise"]
    return (
        f"| {name} | {show(private)} | {show(opacus_best[0])} ({opacus_best[1].split()[1]}) | {show(best.get('numpy'))} "
        f"| {show(best['torch plain'])} | {ratio(opacus_best[0])} | {ratio(best.get('numpy'))} | {ratio(best['torch plain'])} "
        f"| {plain / clip:.2f} | {100 * share:.0f} % |"
    )


def compare(threads, rounds, seconds):
    rows = []
    for name in ("softmax", "mlp", "cnn"):
        table = contenders(name, threads)
        best = dict.fromkeys(table, 0.0)
        for _ in range(rounds):
            for label, measure in table.items():
                best[label] = max(best[label], measure(seconds))
        for label, value in best.items():
            print(f"  {name}: {label:22} {value / 1e6:8.4f} M/s")
        rows.append(row(name, best))
    print("| model | ours, M/s | Opacus, best mode | numpy | plain torch | ours/Opacus | ours/numpy | ours/torch | clip/plain | noise share |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", type=int, help="only this comparison; without it: one thread, then all cores")
    arguments = parser.parse_args()
    if arguments.threads is None:
        # Anew for each: numpy's threads can only be set from outside.
        for threads in (1, os.cpu_count()):
            environment = os.environ | {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
            settings = ["--rounds", arguments.rounds, "--seconds", arguments.seconds, "--threads", threads]
            subprocess.run([sys.executable, __file__, *map(str, settings)], check=True, env=environment)
        return
    versions = f"torch {torch.__version__.split('+')[0]}, opacus {opacus.__version__}, numpy {np.__version__}"
    clock = "processor time" if arguments.threads == 1 else "the wall clock"
    print(f"\n{versions}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    print(f"{arguments.threads} thread(s), samples per second of {clock}:", flush=True)
    compare(arguments.threads, arguments.rounds, arguments.seconds)


main()
