"""The same shape of work in hivemind and p2pfl: N processes that average 650 numbers, on one machine.

They need different versions of the same packages, so each has its own environment; what an environment lacks is named and left out:

    python3.11 -m venv /tmp/hivemind && /tmp/hivemind/bin/pip install hivemind==1.1.12
    python3.11 -m venv /tmp/p2pfl && /tmp/p2pfl/bin/pip install 'p2pfl[dp]==0.4.4' huggingface_hub==0.23.5 pyarrow==14.0.2 'python-dateutil<3'
    /tmp/hivemind/bin/python benches/swarm/others.py [--nodes 4 8] [--rounds 10]
    /tmp/p2pfl/bin/python benches/swarm/others.py [--nodes 4 8] [--rounds 10]

p2pfl needs the older huggingface_hub and pyarrow, for its datasets 2.15.0 imports names that later ones have dropped, and `[dp]`, for it imports that part
always.

Start-up: from the command until every process is ready for the first round (hivemind: has its averager; p2pfl: sees all others). Round: hivemind: all call
`step` at once, the median over rounds of the slowest; p2pfl: from one call of `fit` to the next, the median over rounds and nodes. Memory: resident memory of
a process and its children (hivemind's own, and its libp2p daemon), and its share of it (pages that several processes use are divided among them), the
mean over nodes.

No gradient, no privacy, no disk: both do less in a round than we do. p2pfl runs on numpy alone (torch would add to its memory), with its own settings for
nodes on one machine (`set_standalone_settings`), without Ray, and without TLS: the package ships no certificates. Its rounds are slow because it votes,
gossips and waits by timers of its own.
"""

import argparse
import atexit
import contextlib
import importlib.util
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

NUMBERS = 650


def say(value):
    print(json.dumps(value), flush=True)


def hivemind_node(nodes, peers):
    """Says where it is, then averages whenever a line comes."""
    import hivemind
    import torch
    from hivemind.averaging import DecentralizedAverager

    dht = hivemind.DHT(initial_peers=peers, start=True)
    averager = DecentralizedAverager(
        [torch.randn(NUMBERS)], dht=dht, start=True, prefix="bench", target_group_size=nodes,
        min_group_size=nodes, min_matchmaking_time=1.0, request_timeout=2.0,
    )
    say([str(address) for address in dht.get_visible_maddrs()])
    for _ in sys.stdin:
        began = time.time()
        done = averager.step(timeout=60, allow_retries=True) is not None
        say([done, time.time() - began])


def hivemind(nodes, rounds):
    began = time.time()
    processes = [start("hivemind", nodes, [])]
    peers = hear(processes[0])
    processes += [start("hivemind", nodes, peers) for _ in range(nodes - 1)]
    for process in processes[1:]:
        hear(process)
    startup, times, failed = time.time() - began, [], 0
    for _ in range(rounds):
        for process in processes:
            tell(process, "")
        answers = [hear(process) for process in processes]
        failed += not all(done for done, _ in answers)
        times.append(max(seconds for _, seconds in answers))
    return processes, startup, times, failed


def p2pfl_node(nodes, _):
    """Says where it is, connects to the addresses of the first line, then takes part in as many rounds as the second one says."""
    from p2pfl.settings import Settings

    Settings.general.DISABLE_RAY = True
    Settings.ssl.USE_SSL = False
    import numpy
    from datasets import Dataset, DatasetDict
    from p2pfl.learning.dataset.p2pfl_dataset import P2PFLDataset
    from p2pfl.learning.frameworks.learner import Learner
    from p2pfl.learning.frameworks.p2pfl_model import P2PFLModel
    from p2pfl.management.logger import logger
    from p2pfl.node import Node
    from p2pfl.utils.utils import set_standalone_settings

    set_standalone_settings()
    logger.set_level("ERROR")
    fits = []

    class Numbers(P2PFLModel):
        def get_parameters(self):
            return [self.model["values"]]

        def set_parameters(self, params):
            if isinstance(params, bytes):
                params, self.additional_info = self.decode_parameters(params)
            self.model["values"] = params[0]

        def get_framework(self):
            return "numbers"

    class Nothing(Learner):
        def fit(self):
            fits.append(time.time())
            self.get_model().set_contribution([self.addr], 10)
            return self.get_model()

        def interrupt_fit(self):
            pass

        def evaluate(self):
            return {}

        def get_framework(self):
            return "numbers"

    tiny = Dataset.from_dict({"x": [0.0] * 10})
    data = P2PFLDataset(DatasetDict({"train": tiny, "test": tiny}), dataset_name="tiny")
    node = Node(Numbers({"values": numpy.random.randn(NUMBERS).astype("float32")}), data, "127.0.0.1", learner=Nothing())
    node.start()
    say(node.addr)
    for address in json.loads(sys.stdin.readline()):
        node.connect(address)
    while len(node.get_neighbors()) < nodes - 1:
        time.sleep(0.05)
    say("ready")
    rounds, leads = json.loads(sys.stdin.readline())
    if leads:
        node.set_start_learning(rounds=rounds, epochs=1, trainset_size=nodes)
    until = time.time() + 20 * rounds
    while len(fits) < rounds and time.time() < until:
        time.sleep(0.05)
    say([b - a for a, b in zip(fits, fits[1:])])
    sys.stdin.readline()


def p2pfl(nodes, rounds):
    began = time.time()
    processes = [start("p2pfl", nodes, []) for _ in range(nodes)]
    addresses = [hear(process) for process in processes]
    for at, process in enumerate(processes):
        tell(process, addresses[:at])
    for process in processes:
        hear(process)
    startup = time.time() - began
    # A round is from one fit to the next, so one more fit than rounds.
    for at, process in enumerate(processes):
        tell(process, [rounds + 1, at == 0])
    answers = [hear(process) for process in processes]
    # A node that fell out of step hurries through rounds in which it hears nobody.
    answers = [[seconds for seconds in times if seconds > 0.01] for times in answers]
    failed = max(rounds - len(times) for times in answers)
    return processes, startup, [seconds for times in answers for seconds in times], failed


def start(program, nodes, words):
    command = [sys.executable, __file__, "--node", program, str(nodes), *words]
    # A session of its own, for hivemind's children outlive their parent.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd="/tmp", start_new_session=True
    )
    atexit.register(end, process)
    return process


def end(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def tell(process, value):
    process.stdin.write(json.dumps(value) + "\n")
    process.stdin.flush()


def hear(process):
    """The next line that is ours: the programs print too."""
    for line in process.stdout:
        try:
            return json.loads(line)
        except ValueError:
            pass
    raise SystemExit(f"a node ended: {process.args}")


def memory(pid):
    """MiB of a process and everything under it: all that is resident, and its share of it (pages of several processes divided among them)."""
    total = [0, 0]
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total = [sum(int(line.split()[1]) / 1024 for line in lines if line.startswith(key)) for key in ["Rss:", "Pss:"]]
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                total = [a + b for a, b in zip(total, memory(int(child)))]
    except OSError:
        pass
    return total


def run(program, nodes, rounds):
    processes, startup, times, failed = PROGRAMS[program][1](nodes, rounds)
    resident, share = (statistics.mean(each) for each in zip(*(memory(process.pid) for process in processes)))
    for process in processes:
        end(process)
    median = statistics.median(times) if times else float("nan")
    print(f"| {program} | {nodes} | {startup:.1f} | {median:.2f} | {resident:.0f} | {share:.0f} | {failed} of {rounds} rounds failed |", flush=True)


PROGRAMS = {"hivemind": (hivemind_node, hivemind), "p2pfl": (p2pfl_node, p2pfl)}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--node"]:
        PROGRAMS[sys.argv[2]][0](int(sys.argv[3]), sys.argv[4:])
        os._exit(0)
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="*", default=[4, 8])
    parser.add_argument("--rounds", type=int, default=10)
    args = parser.parse_args()
    # So that a time limit from outside ends the nodes too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    here = [program for program in PROGRAMS if importlib.util.find_spec(program)]
    for program in PROGRAMS.keys() - here:
        print(f"{program} is not installed in {sys.prefix}: left out", file=sys.stderr)
    print("| program | nodes | start-up, s | a round, s | resident per node, MiB | its share, MiB | |\n|---|---|---|---|---|---|---|", flush=True)
    for program in here:
        for nodes in args.nodes:
            run(program, nodes, args.rounds)
