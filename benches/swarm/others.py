"""The same shape of work in hivemind: N processes that average 650 numbers, on one machine.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install hivemind
    /tmp/venv/bin/python benches/swarm/others.py [--nodes 4 8] [--rounds 10]

Start-up: from the command until every process has its averager ready. Round: all call `step` at once; the median over rounds of the
slowest. Memory: resident memory of a process and its children (hivemind's own, and its libp2p daemon), the mean over nodes.
No gradient, no privacy, no disk: hivemind does less in a round than we do.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path


def hivemind_node(nodes, peers):
    """Says where it is, then averages whenever a line comes."""
    import hivemind
    import torch
    from hivemind.averaging import DecentralizedAverager

    dht = hivemind.DHT(initial_peers=peers, start=True)
    averager = DecentralizedAverager(
        [torch.randn(650)], dht=dht, start=True, prefix="bench", target_group_size=nodes,
        min_group_size=nodes, min_matchmaking_time=1.0, request_timeout=2.0,
    )
    print(json.dumps([str(address) for address in dht.get_visible_maddrs()]), flush=True)
    for _ in sys.stdin:
        began = time.time()
        done = averager.step(timeout=60, allow_retries=True) is not None
        print(json.dumps([done, time.time() - began]), flush=True)


def resident(pid):
    """MiB of a process and everything under it."""
    total = 0
    try:
        total += int(next(l.split()[1] for l in Path(f"/proc/{pid}/status").read_text().splitlines() if l.startswith("VmRSS")))
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                total += int(1024 * resident(int(child)))
    except (OSError, StopIteration):
        pass
    return total / 1024


def run(nodes, rounds):
    began, processes = time.time(), []
    command = [sys.executable, __file__, "--node", str(nodes)]
    start = lambda peers: subprocess.Popen([*command, *peers], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    hear = lambda process: json.loads(process.stdout.readline())
    processes.append(start([]))
    peers = hear(processes[0])
    processes += [start(peers) for _ in range(nodes - 1)]
    for process in processes[1:]:
        hear(process)
    startup, times, failed = time.time() - began, [], 0
    for _ in range(rounds):
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
        answers = [hear(process) for process in processes]
        failed += not all(done for done, _ in answers)
        times.append(max(seconds for _, seconds in answers))
    memory = statistics.mean(resident(process.pid) for process in processes)
    for process in processes:
        process.stdin.close()
        process.terminate()
    print(f"| hivemind | {nodes} | {startup:.1f} | {statistics.median(times):.2f} | {memory:.0f} | {failed} of {rounds} rounds failed |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--node"]:
        hivemind_node(int(sys.argv[2]), sys.argv[3:])
        os._exit(0)
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="*", default=[4, 8])
    parser.add_argument("--rounds", type=int, default=10)
    args = parser.parse_args()
    print("| program | nodes | start-up, s | a round, s | memory per node, MiB | |\n|---|---|---|---|---|---|", flush=True)
    for nodes in args.nodes:
        run(nodes, args.rounds)
