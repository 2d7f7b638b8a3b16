"""Real processes on one machine: throughput of models, overhead of a round, an idle node, 64 nodes; `others.py` has hivemind beside it.

    cargo build --release -p murmur && cargo build --release -p runtime --example exchange
    python3 benches/swarm/bench.py [exchange] [round] [idle] [connect] [compare] [--repeat 3] [--nodes 64]
    /tmp/venv/bin/python benches/swarm/others.py      (pip install hivemind)

exchange: one process sends models of 4 MiB to another over loopback. `ours` is a link of a node (header, numbers converted, bounded
queue); `plain` writes the same number of bytes to a long-lived libp2p stream over the same transport (TCP, private network, Noise,
yamux); `open` is that without the private network. They take turns; the best of all repeats counts.
round: 8 processes, softmax of 650 parameters. The time between two ends of rounds at one node, from its log; with all records in
a batch, and with one record on average, which leaves hardly anything to compute.
idle: a node that waits for the others: resident memory, and CPU time over ten seconds.
connect: `murmur swarm --nodes 64`: from the command until the last node has begun the run, by the nodes' logs.

Prints the tables of README.md.
"""

import argparse
import json
import os
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


def rounds(_):
    print("| batch | median of a round, ms | 90 % below, ms |\n|---|---|---|")
    for name, setting in [("all records", 'batch_size="all"'), ("one record", "batch_size=1")]:
        with tempfile.TemporaryDirectory() as folder:
            _, run = swarm(folder, 8, "rounds=400", "privacy.noise_multiplier=1", setting)
            times = [t for node in range(8) for t in round_times(run, node)]
        print(f"| {name} | {statistics.median(times):.2f} | {statistics.quantiles(times, n=10)[8]:.2f} |")


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
    with tempfile.TemporaryDirectory() as folder:
        began, run = swarm(folder, nodes, "rounds=2", "privacy.noise_multiplier=1", "data=blobs:nodes=%d,records=20,dim=64,classes=10" % nodes)
        starts = [begun(run / "nodes" / str(node) / "stderr.log") - began for node in range(nodes)]
    print(f"{nodes} nodes: all have begun {max(starts):.1f} s after the command (the first after {min(starts):.1f} s)")


def compare(_):
    """The figures that `others.py` prints for other programs; each round of ours computes, draws noise and is on disk before it is sent."""
    print("| program | nodes | start-up, s | a round, s | memory per node, MiB |\n|---|---|---|---|---|")
    for nodes in [4, 8]:
        with tempfile.TemporaryDirectory() as folder:
            words = [MURMUR, "swarm", "--nodes", str(nodes), "--format", "json", "--out", folder]
            words += ["--set", "rounds=400", "--set", "privacy.noise_multiplier=1"]
            began, resident = time.time(), []
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
                while parent.poll() is None:
                    resident.append(children_resident(parent.pid))
                    time.sleep(0.1)
                run = Path(json.loads(parent.stdout.read())["run"])
            startup = max(begun(run / "nodes" / str(node) / "stderr.log") - began for node in range(nodes))
            median = statistics.median(t for node in range(nodes) for t in round_times(run, node)) / 1000
        most = max(sum(sizes) / len(sizes) for sizes in resident if len(sizes) == nodes)
        print(f"| murmur | {nodes} | {startup:.2f} | {median:.4f} | {most:.0f} |")


def children_resident(pid):
    """MiB of each child."""
    sizes = []
    try:
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            status = Path(f"/proc/{child}/status").read_text()
            sizes += [int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS")]
    except OSError:
        pass
    return sizes


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=["exchange", "round", "idle", "connect", "compare"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=64)
    args = parser.parse_args()
    for part in args.parts:
        {"exchange": lambda: exchange(args.repeat), "round": lambda: rounds(args.repeat), "idle": lambda: idle(args.repeat), "connect": lambda: connect(args.nodes), "compare": lambda: compare(args.repeat)}[part]()
        print()
