#!/usr/bin/env python3
"""The network accountant: time and memory of all pairs, growth, and ratios to the same projections done densely in numpy.

    python3 benches/network/bench.py [pairs] [growth] [numpy]      all three parts without a word
    python3 benches/network/bench.py beside=OTHER/target/release/murmur [linear|rounds|contractive …]      against another build of murmur, in turns

Needs a release build (`cargo build --release`); makes a virtual environment with numpy under target/. Prints Markdown tables.
"""
import json, os, subprocess, sys, tempfile, time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
MURMUR = TARGET / "release" / "murmur"
VENV = TARGET / "bench-venv"
FACEBOOK = ROOT.parent / "shared" / "data" / "graphs" / "facebook_combined.txt.gz"


def in_environment():
    """Starts this script again in an environment that has numpy."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        python = VENV / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy"], check=True)
        os.execv(python, [str(python), __file__, *sys.argv[1:]])


def murmur(*flags, program=MURMUR):
    """Seconds, processor seconds and peak MiB of `murmur privacy pairwise`, written as npy, and the figures."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "privacy", "pairwise", *map(str, flags), "--format", "npy", "--out", f"{folder}/mu2.npy"]
        start = time.perf_counter()
        pid = os.posix_spawn(str(command[0]), list(map(str, command)), os.environ)
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - start
        assert status == 0, command
        import numpy
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, numpy.load(f"{folder}/mu2.npy")


def edges(spec):
    text = subprocess.run([MURMUR, "topology", spec, "--format", "edges"], check=True, capture_output=True, text=True).stdout
    return [tuple(map(int, line.split()[:2])) for line in text.splitlines() if line and line[0] not in "#%" and len(line.split()) > 1]


def metropolis(spec):
    import numpy
    pairs = edges(spec)
    nodes = 1 + max(map(max, pairs))
    degree = numpy.zeros(nodes, int)
    for u, v in pairs:
        degree[u] += 1
        degree[v] += 1
    matrix = numpy.zeros((nodes, nodes))
    for u, v in pairs:
        matrix[u, v] = matrix[v, u] = 1 / (1 + max(degree[u], degree[v]))
    numpy.fill_diagonal(matrix, 1 - matrix.sum(1))
    return matrix


def dense_linear(matrix, rounds, watcher):
    """Σ|X_u| by the definition: rows of the view over all noises, pinv(B) B, sums of blocks."""
    import numpy
    nodes = len(matrix)
    state = numpy.zeros((nodes, nodes * rounds))
    view = []
    heard = [w for w in numpy.flatnonzero(matrix[watcher]) if w != watcher]
    for s in range(rounds):
        state[numpy.arange(nodes), s * nodes + numpy.arange(nodes)] += 1
        own = numpy.zeros(nodes * rounds)
        own[s * nodes + watcher] = 1
        view.append(own[None])
        view.append(state[heard])
        state = matrix @ state
    view = numpy.concatenate(view)
    projector = numpy.linalg.pinv(view) @ view
    return numpy.array([abs(projector[u::nodes, u::nodes]).sum() for u in range(nodes)])


def dense_rounds(matrix, steps, watcher):
    """Leverage scores by the definition: pinv(M) M of the stacked rows of powers of W."""
    import numpy
    nodes = len(matrix)
    heard = [w for w in numpy.flatnonzero(matrix[watcher]) if w != watcher]
    unit = numpy.eye(nodes)
    rows, view = unit[heard], [unit[[watcher]]]
    for _ in range(steps):
        view.append(rows)
        rows = rows @ matrix
    view = numpy.concatenate(view)
    return numpy.diag(numpy.linalg.pinv(view, rcond=1e-13) @ view)


def table(title, head, rows):
    print(f"\n### {title}\n\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


CASES = [
    ("rounds", "hypercube:2048, 19 steps", ["--topology", "hypercube:2048", "--steps", 19, "--analysis", "rounds"]),
    ("contractive, boundary", "SNAP Facebook (4,039 nodes), T = 100", ["--topology", f"file:{FACEBOOK}", "--rounds", 100, "--analysis", "contractive"]),
    ("linear", "Erdős–Rényi n = 271, mean degree 11, T = 100", ["--topology", "erdos-renyi:271,mean_degree=11,seed=1", "--rounds", 100, "--analysis", "linear"]),
    ("linear", "Erdős–Rényi n = 919, mean degree 8, T = 80", ["--topology", "erdos-renyi:919,mean_degree=8,seed=1", "--rounds", 80, "--analysis", "linear"]),
    ("linear", "Erdős–Rényi n = 919, mean degree 13, T = 80", ["--topology", "erdos-renyi:919,mean_degree=13,seed=1", "--rounds", 80, "--analysis", "linear"]),
]


def all_pairs():
    rows = []
    for analysis, what, flags in CASES:
        if any("facebook" in str(flag) for flag in flags) and not FACEBOOK.exists():
            print(f"skipped: {what}: no {FACEBOOK.name} in ../shared/data/graphs")
            continue
        seconds, _, memory, _ = murmur(*flags)
        rows.append([analysis, what, f"{seconds:.1f} s", f"{memory:.0f} MiB"])
    table("All pairs", ["analysis", "run", "time", "peak memory"], rows)


def beside(other, wanted):
    """All pairs by two builds that take turns: clock, processor time, memory, and how far the figures are apart."""
    import numpy
    rows = []
    for analysis, what, flags in CASES:
        absent = any("facebook" in str(flag) for flag in flags) and not FACEBOOK.exists()
        if absent or (wanted and not any(analysis.startswith(word) for word in wanted)):
            continue
        before, cpu_before, memory_before, old = murmur(*flags, program=other)
        now, cpu, memory, new = murmur(*flags)
        known = numpy.isfinite(old)
        apart = numpy.max(numpy.abs(new[known] - old[known]))
        lower = numpy.max((old[known] - new[known]) / numpy.maximum(old[known], 1e-300))
        rows.append([analysis, what, f"{before:.1f} s, {cpu_before:.1f} s, {memory_before:.0f} MiB", f"{now:.1f} s, {cpu:.1f} s, {memory:.0f} MiB",
                     f"{before / now:.1f} ×", f"{cpu_before / cpu:.1f} ×", f"{apart:.0e}", f"{lower:.0e}"])
    table("Beside another build", ["analysis", "run", "other: clock, processor, memory", "this", "clock", "processor", "largest difference of μ²", "largest share below"], rows)


def growth():
    rows = []
    for analysis, name, flags in [
        ("rounds", "n", lambda x: ["--topology", f"regular:{20 * x},degree=6,seed=1", "--steps", 8]),
        ("contractive", "n", lambda x: ["--topology", f"regular:{20 * x},degree=6,seed=1", "--rounds", 50]),
        ("linear", "n", lambda x: ["--topology", f"regular:{x},degree=6,seed=1", "--rounds", 30]),
        ("contractive", "T", lambda x: ["--topology", "regular:10000,degree=6,seed=1", "--rounds", x // 10]),
        ("linear", "T", lambda x: ["--topology", "regular:500,degree=6,seed=1", "--rounds", x // 20]),
        ("contractive", "degree", lambda x: ["--topology", f"regular:10000,degree={x // 100},seed=1", "--rounds", 50]),
        ("linear", "degree", lambda x: ["--topology", f"regular:500,degree={x // 100},seed=1", "--rounds", 30]),
    ]:
        watchers = [flag for node in range(16) for flag in ("--watcher", node)]
        times = [murmur(*flags(x), "--analysis", analysis, *watchers)[0] for x in (400, 800, 1600)]
        rows.append([analysis, f"{name} doubles twice", *[f"{1000 * t:.0f} ms" for t in times], f"{times[2] / times[0]:.1f} ×"])
    table("Growth, 16 watchers", ["analysis", "what grows", "1", "2", "4", "ratio"], rows)


def against_numpy():
    import numpy
    rows = []
    for spec, rounds in [("erdos-renyi:100,mean_degree=8,seed=1", 100), ("erdos-renyi:200,mean_degree=8,seed=1", 150)]:
        matrix = metropolis(spec)
        start = time.perf_counter()
        expected = dense_linear(matrix, rounds, 0)
        dense = time.perf_counter() - start
        ours, _, _, mu2 = murmur("--topology", spec, "--rounds", rounds, "--analysis", "linear", "--watcher", 0)
        worst = numpy.nanmax(abs(mu2[0] - numpy.minimum(expected, rounds)))
        rows.append(["linear", f"{spec}, T = {rounds}, one watcher", f"{dense:.2f} s", f"{ours:.3f} s", f"{dense / ours:.0f} ×", f"{worst:.0e}"])
    spec, steps = "hypercube:2048", 19
    matrix = metropolis(spec)
    start = time.perf_counter()
    expected = dense_rounds(matrix, steps, 0)
    dense = time.perf_counter() - start
    watchers = [flag for node in range(32) for flag in ("--watcher", node)]
    ours, _, _, mu2 = murmur("--topology", spec, "--steps", steps, "--analysis", "rounds", *watchers)
    worst = numpy.nanmax(abs(mu2[0] - expected))
    rows.append(["rounds", f"{spec}, {steps} steps, per watcher", f"{dense:.2f} s", f"{ours / 32:.3f} s", f"{dense * 32 / ours:.0f} ×", f"{worst:.0e}"])
    table("Against numpy doing the same projection densely, in one run", ["analysis", "run", "numpy", "murmur (whole process)", "ratio", "largest difference"], rows)


if __name__ == "__main__":
    in_environment()
    print(f"{os.cpu_count()} cores, {subprocess.run([MURMUR, '--version'], capture_output=True, text=True).stdout.strip()}")
    # A child's peak memory starts from its parent's, so the parts that need none of numpy's come first.
    parts = {"pairs": all_pairs, "growth": growth, "numpy": against_numpy}
    names = sys.argv[1:]
    others = [name.removeprefix("beside=") for name in names if name.startswith("beside=")]
    for other in others:
        beside(other, [name for name in names if not name.startswith("beside=")])
    for name in [] if others else names or parts:
        parts[name]()
