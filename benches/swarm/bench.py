"""Real processes on one machine: throughput of models, overhead of a round, an idle node, 64 nodes; `others.py` has hivemind and p2pfl beside it.

    cargo build --release -p murmur-node && cargo build --release -p murmuration-runtime --example exchange
    python3 benches/swarm/bench.py [exchange] [round] [idle] [connect] [compare] [--repeat 3] [--nodes 64]
    /tmp/hivemind/bin/python benches/swarm/others.py      (it says what to install)

exchange: one process sends models of 4 MiB to another over loopback. `ours` is a link of a node (header, numbers converted, bounded
queue); `plain` writes the same number of bytes to a long-lived libp2p stream over the same transport (TCP, private network, Noise,
yamux); `open` is that without the private network. They take turns; the best of all repeats counts.
round: 8 processes, softmax of 650 parameters. The time between two ends of rounds at one node, from its log; with all records in
a batch, and with one record on average, which leaves hardly anything to compute. Computing apart: the CPU time of the threads that compute,
from /proc, as the least time in which the machine's cores can have done it.
idle: a node that waits for the others: resident memory, and CPU time over ten seconds.
connect: `murmur swarm --nodes 64`: from the command until the last node has begun the run, by the nodes' logs; and CPU time of the command.

Prints the tables of README.md.
"""

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target")) / "release"
MURMUR, EXCHANGE = TARGET / "murmur", TARGET / "examples" / "exchange"
PARAMETERS = 1 << 20


def one_exchange(way, messages):
    """MB/s of one way."""
    words = [way, str(messages), str(PARAMETERS)]
    with subprocess.Popen([EXCHANGE, "receive", *words], stdout=subprocess.PIPE, text=True) as receiver:
        address = receiver.stdout.readline().strip()
        with subprocess.Popen([EXCHANGE, "send", *words, address]) as sender:
            figures = json.loads(receiver.stdout.readline())
            receiver.wait()
            sender.kill()
    return figures["bytes"] / figures["seconds"] / 1e6


def exchange(repeat):
    ways = ["ours", "plain", "open"]
    found = {way: [] for way in ways}
    for _ in range(repeat):
        for way in ways:
            found[way].append(one_exchange(way, 60))
    best = {way: max(speeds) for way, speeds in found.items()}
    print("| way | MB/s | of the plain stream |\n|---|---|---|")
    for way in ways:
        print(f"| {way} | {best[way]:.0f} | {100 * best[way] / best['plain']:.0f} % |")


def swarm(folder, nodes, *settings):
    words = [MURMUR, "swarm", "--nodes", str(nodes), "--format", "json", "--out", folder]
    for setting in settings:
        words += ["--set", setting]
    began = time.time()
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return began, Path(json.loads(out)["run"])


def round_times(run, node):
    lines = [json.loads(line) for line in (run / "nodes" / str(node) / "log.jsonl").read_text().splitlines()]
    ends = [line["t"] for line in lines if line["event"] == "round_done"]
    return [(b - a) / 1000 for a, b in zip(ends, ends[1:])]


@contextlib.contextmanager
def watched_swarm(nodes, look, *settings):
    """As `swarm`, and calls `look` with the children's process ids again and again while they run."""
    with tempfile.TemporaryDirectory() as folder:
        words = [MURMUR, "swarm", "--nodes", str(nodes), "--format", "json", "--out", folder]
        for setting in settings:
            words += ["--set", setting]
        began = time.time()
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
            while parent.poll() is None:
                try:
                    look(Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split())
                except OSError:
                    pass
                # Seldom: looking takes time from those who are looked at.
                time.sleep(0.2)
            run = Path(json.loads(parent.stdout.read())["run"])
        yield began, run


def thread_times(pids, into):
    """Seconds of CPU time of each thread of these processes, by process and thread; those that have ended keep their last."""
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            name, spent = (task / "comm").read_text().strip(), int((task / "schedstat").read_text().split()[0])
            into[task.name] = (name, spent / 1e9)


def rounds(repeat):
    """What a round takes, and what of it is computing: the eight computations of a round share the machine's cores, so they take at least
    their CPU time divided by the number of cores."""
    nodes, count, cores = 8, 400, os.cpu_count()
    print("| batch | a round: median, ms | 90 % below, ms | computing, ms | beyond computing: median, ms | CPU of a node: computing, ledger, rest, ms |")
    print("|---|---|---|---|---|---|")
    for name, setting in [("all records", 'batch_size="all"'), ("one record", "batch_size=1")] * repeat:
        spent = {}
        look = lambda pids: thread_times(pids, spent)
        with watched_swarm(nodes, look, f"rounds={count}", "privacy.noise_multiplier=1", setting) as (_, run):
            times = [t for node in range(nodes) for t in round_times(run, node)]
        each = lambda wanted: 1000 * sum(s for thread, s in spent.values() if wanted(thread)) / nodes / count
        parts = [each(lambda t: t == "contributions"), each(lambda t: t == "ledger"), each(lambda t: t not in ("contributions", "ledger"))]
        median, computing = statistics.median(times), nodes * parts[0] / cores
        print(f"| {name} | {median:.2f} | {statistics.quantiles(times, n=10)[8]:.2f} | {computing:.2f} | {median - computing:.2f} | {parts[0]:.2f}, {parts[1]:.2f}, {parts[2]:.2f} |", flush=True)


def idle(_):
    with tempfile.TemporaryDirectory() as folder:
        init = [MURMUR, "swarm", "init", "--name", "idle", "--nodes", "2", "--out", f"{folder}/swarm.toml"]
        subprocess.run(init, check=True, capture_output=True)
        words = [MURMUR, "node", "--swarm", f"{folder}/swarm.toml", "--shard", "0/2", "--state", f"{folder}/state"]
        with subprocess.Popen([*words, "--log", "json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as node:
            node.stdout.readline()
            time.sleep(3)
            ticks = lambda: sum(map(int, Path(f"/proc/{node.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
            before = ticks()
            time.sleep(10)
            used = (ticks() - before) / os.sysconf("SC_CLK_TCK")
            status = Path(f"/proc/{node.pid}/status").read_text()
            node.terminate()
    field = lambda name: next(line.split()[1:] for line in status.splitlines() if line.startswith(name))
    resident, own = int(field("VmRSS:")[0]) / 1024, int(field("RssAnon:")[0]) / 1024
    print(f"idle node: {resident:.1f} MiB resident ({own:.1f} of its own), {1000 * used / 10:.0f} ms CPU per second, {field('Threads:')[0]} threads")


def begun(log):
    """When a node began its run, by its messages."""
    for line in log.read_text().splitlines():
        if "the run begins" in line:
            stamp = line.split()[0].replace("\x1b[2m", "").replace("\x1b[0m", "")
            return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()
    return float("inf")


def connect(nodes):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        began, run = swarm(folder, nodes, "rounds=2", "privacy.noise_multiplier=1", "data=blobs:nodes=%d,records=20,dim=64,classes=10" % nodes)
        starts = [begun(run / "nodes" / str(node) / "stderr.log") - began for node in range(nodes)]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{nodes} nodes: all have begun {max(starts):.1f} s after the command (the first after {min(starts):.1f} s); {cpu:.1f} s of CPU time with the report")


def compare(_):
    """The figures that `others.py` prints for other programs; each round of ours computes, draws noise and is on disk before it is sent."""
    print("| program | nodes | start-up, s | a round, s | resident per node, MiB | its share, MiB |\n|---|---|---|---|---|---|")
    for nodes in [4, 8]:
        sizes = []
        look = lambda pids: sizes.append([memory(pid) for pid in pids])
        with watched_swarm(nodes, look, "rounds=400", "privacy.noise_multiplier=1") as (began, run):
            startup = max(begun(run / "nodes" / str(node) / "stderr.log") - began for node in range(nodes))
            median = statistics.median(t for node in range(nodes) for t in round_times(run, node)) / 1000
        most = [max(statistics.mean(each) for each in kind) for kind in zip(*(list(zip(*now)) for now in sizes if len(now) == nodes))]
        print(f"| murmur | {nodes} | {startup:.2f} | {median:.4f} | {most[0]:.1f} | {most[1]:.1f} |", flush=True)


def memory(pid):
    """MiB of a process: all that is resident, and its share, for which a page that several processes use is divided among them."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return [sum(int(line.split()[1]) / 1024 for line in lines if line.startswith(key)) for key in ["Rss:", "Pss:"]]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=["exchange", "round", "idle", "connect", "compare"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=64)
    args = parser.parse_args()
    for part in args.parts:
        {"exchange": lambda: exchange(args.repeat), "round": lambda: rounds(args.repeat), "idle": lambda: idle(args.repeat), "connect": lambda: [connect(args.nodes) for _ in range(args.repeat)], "compare": lambda: compare(args.repeat)}[part]()
        print()
