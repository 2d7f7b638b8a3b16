#!/usr/bin/env python3
"""A round of Flower's SecAgg+ beside a masked round without a server: 16 members, 100,000 numbers, one process each.

    python3 -m venv /tmp/flower && /tmp/flower/bin/pip install flwr==1.41.0
    cargo build --release -p murmuration-sim --example masked_round
    /tmp/flower/bin/python benches/masked/flower.py [--program target/release/examples/masked_round] [--nodes 16] [--numbers 100000] [--turns 3]

Both run in one process and one after the other, without a network, and the time to write and read messages is taken off: Flower's own workflow and client module, called by a `Grid` that hands each message over in memory (its simulation with Ray and its
processes over gRPC take longer, for reasons that have nothing to do with masks); ours as `sim/examples/masked_round.rs`. Clients compute nothing: they add 1 to the
model. Time: one round of all members together, the fastest of some. Bytes: what one member sends and receives, messages as each program writes them, without transport.
Every member holds shares of every other (`num_shares` = all), and two thirds of them open a secret, as here two thirds stand for a round. Flower's clients have no noise; ours have.
"""

import argparse
import json
import logging
import os
import subprocess
import time
from pathlib import Path

os.environ["FLWR_TELEMETRY_ENABLED"] = "0"

import numpy as np
from flwr.app import Context, Message, RecordDict
from flwr.client import ClientApp, NumPyClient
from flwr.client.mod import secaggplus_mod
from flwr.common import ndarrays_to_parameters
from flwr.common.serde import message_from_proto, message_to_proto
from flwr.server import LegacyContext, ServerConfig
from flwr.server.strategy import FedAvg
from flwr.server.workflow import DefaultWorkflow, SecAggPlusWorkflow
from flwr.serverapp.grid import Grid
from flwr.supercore.task_identity import TaskIdentity

ROOT = Path(__file__).resolve().parents[2]


class Adds(NumPyClient):
    def fit(self, parameters, config):
        return [parameters[0] + 1], 1, {}


class InProcess(Grid):
    """Hands messages to clients in this process, and counts them."""

    def __init__(self, nodes):
        self.app = ClientApp(client_fn=lambda context: Adds().to_client(), mods=[secaggplus_mod])
        self.contexts = {node: Context(run_id=1, node_id=node, node_config={}, state=RecordDict(), run_config={}) for node in range(1, nodes + 1)}
        self.bytes, self.carrying = 0, 0.0

    @property
    def run(self):
        return type("Run", (), {"run_id": 1})()

    def set_run(self, *_):
        pass

    def create_message(self, content, message_type, dst_node_id, group_id, ttl=None):
        return Message(content, dst_node_id, message_type, group_id=group_id)

    def get_node_ids(self):
        return list(self.contexts)

    def push_messages(self, messages):
        raise NotImplementedError

    def pull_messages(self, message_ids):
        raise NotImplementedError

    def send_and_receive(self, messages, *, timeout=None):
        replies = []
        for at, message in enumerate(messages):
            message.metadata._message_id = f"{id(message)}-{at}"
            message.metadata._run_id = 1
            message.metadata._src_node_id = 0
            reply = self.app(self.carried(message), self.contexts[message.metadata.dst_node_id])
            replies.append(self.carried(reply))
        return replies

    def carried(self, message):
        """What comes out at the other end; the time for it is not the round's."""
        start = time.perf_counter()
        written = message_to_proto(message)
        self.bytes += written.ByteSize()
        read = message_from_proto(written)
        self.carrying += time.perf_counter() - start
        return read


def flower(nodes, numbers, rounds):
    """Seconds, bytes, and the model of a run."""
    TaskIdentity.run_id, TaskIdentity.task_id, TaskIdentity.node_id = 1, 1, 0
    grid = InProcess(nodes)
    first = ndarrays_to_parameters([np.zeros(numbers, dtype=np.float32)])
    strategy = FedAvg(fraction_fit=1.0, fraction_evaluate=0.0, min_fit_clients=nodes, min_available_clients=nodes, initial_parameters=first)
    state = Context(run_id=1, node_id=0, node_config={}, state=RecordDict(), run_config={})
    context = LegacyContext(context=state, config=ServerConfig(num_rounds=rounds), strategy=strategy)
    workflow = DefaultWorkflow(fit_workflow=SecAggPlusWorkflow(num_shares=1.0, reconstruction_threshold=2 / 3))
    start = time.perf_counter()
    workflow(grid, context)
    seconds = time.perf_counter() - start - grid.carrying
    model = context.state.array_records["parameters"].to_numpy_ndarrays()[0]
    assert np.allclose(model, rounds, atol=0.01 * rounds), "the clients' sum came out"
    return seconds, grid.bytes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/examples/masked_round")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--numbers", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.ERROR)
    theirs, ours, sizes = [], [], None
    for _ in range(given.turns):
        # What comes before the first round is taken off: the difference of two lengths counts.
        (short, few), (long, many) = (flower(given.nodes, given.numbers, rounds) for rounds in (1, 3))
        theirs.append((long - short) / 2)
        sizes = (many - few) / 2 / given.nodes
        words = [given.program, "turns=1", f"nodes={given.nodes}", f"parameters={given.numbers}"]
        ours.append(json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout))
    plain = min(line["plain_seconds"] for line in ours)
    print("| | a round, all members together | beside it | a member's bytes |\n|---|---|---|---|")
    print(f"| Flower 1.41, SecAgg+ | {min(theirs):.2f} s | | {sizes / 1e6:.2f} MB to and from the server |")
    for kind in ("doubling", "halving"):
        seconds = min(line["plain_seconds"] * line[f"{kind}_to_plain"] for line in ours)
        size = ours[0][f"{kind}_bytes"] / 1e6
        print(f"| masked, {kind} | {seconds:.2f} s | {min(theirs) / seconds:.1f} × | {size:.2f} MB sent, as much received |")
    print(f"\nThe same round without masks: {plain:.2f} s.")


if __name__ == "__main__":
    main()
