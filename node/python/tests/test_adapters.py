"""Adapters against the packages they are for; each skips itself where its package is not installed (``./test heavy`` installs them)."""

from __future__ import annotations

import numpy as np
import pytest

import murmuration as mm


def module(torch):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))


def dataset(torch, records=40):
    draw = np.random.default_rng(3)
    labels = draw.integers(0, 2, records)
    features = draw.normal(size=(records, 4)) + np.outer(2 * labels - 1, [1.5, 0, 0, 0])
    return torch.utils.data.TensorDataset(torch.tensor(features, dtype=torch.float32), torch.tensor(labels))


def gradient(torch, made, params, data, record):
    """Of one record, by an ordinary backward pass."""
    made._load(params)
    made.module.zero_grad()
    features, label = data[record]
    torch.nn.functional.cross_entropy(made.module(features[None]), label[None]).backward()
    return np.concatenate([value.grad.numpy().ravel() for value in made.module.parameters()])


def test_rows_of_torch_are_the_gradients_of_single_records():
    torch = pytest.importorskip("torch")
    data = dataset(torch)
    made = mm.torch.Rows(module(torch), torch.nn.functional.cross_entropy, data)
    params = np.random.default_rng(1).normal(size=23).astype(np.float32)
    rows, _ = made.answer("rows", 0, 0, np.array([7, 2], dtype=np.uint32), params, [])
    for row, record in zip(rows.reshape(2, -1), [7, 2]):
        assert np.allclose(row, gradient(torch, made, params, data, record), atol=1e-5)


def test_ghost_norms_and_sums_are_those_of_the_rows():
    torch = pytest.importorskip("torch")
    pytest.importorskip("opacus")
    data, records = dataset(torch), np.array([7, 2, 9], dtype=np.uint32)
    ghost = mm.torch.Ghost(module(torch), torch.nn.functional.cross_entropy, data)
    assert ghost.answers() == ["norms", "sum"]
    params = np.random.default_rng(1).normal(size=23).astype(np.float32)
    norms, _ = ghost.answer("norms", 0, 0, records, params, [])
    factors = np.array([0.5, 0.0, 1.0], dtype=np.float32)
    total, _ = ghost.answer("sum", 0, 0, records, params, factors)
    rows = [gradient(torch, ghost, params, data, int(record)) for record in records]
    assert np.allclose(norms, [np.linalg.norm(row) for row in rows], rtol=1e-4)
    assert np.allclose(total, 0.5 * rows[0] + rows[2], atol=1e-5)


def test_a_swarm_of_torch_modules_learns_from_rows_and_from_updates():
    torch = pytest.importorskip("torch")
    data = dataset(torch, 200)

    def accuracy(made, params):
        made._load(params)
        features, labels = data.tensors
        return float((made.module(features).argmax(1) == labels).float().mean())

    def fit(made, records):
        optimiser = torch.optim.Adam(made.parameters(), 0.05)
        features, labels = records.tensors
        for _ in range(20):
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(made(features), labels)
            loss.backward()
            optimiser.step()
        return float(loss)

    first = mm.torch.initial(module(torch))

    def simulate(make, **settings):
        import tempfile

        with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
            mm.save_initial(file.name, first)
            return mm.simulate(set={"nodes": 3, "model.initial": f'"{file.name}"', **settings}, trainer=make)

    rows = lambda node: mm.torch.Rows(module(torch), torch.nn.functional.cross_entropy, dataset(torch, 200))  # noqa: E731
    run = simulate(rows, rounds=60, batch_size=64, learning_rate=1, **{"privacy.epsilon": 8})
    assert accuracy(rows(0), run.model) > 0.85
    updates = lambda node: mm.torch.Update(module(torch), fit, dataset(torch, 200))  # noqa: E731
    run = simulate(updates, rounds=8, **{"privacy.adjacency": "node", "privacy.noise_multiplier": 0.05, "privacy.clip_norm": 2})
    assert accuracy(updates(0), run.model) > 0.85


def test_rows_of_jax_are_the_gradients_of_single_records():
    pytest.importorskip("jax")
    features = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    targets = features @ np.array([1, 2, 3], dtype=np.float32)
    made = mm.jax.Rows(
        lambda params, x, y: (params["w"] @ x + params["b"] - y) ** 2,
        {"w": np.zeros(3), "b": np.zeros(())},
        (features, targets),
    )
    wanted = np.array([3, 4, 9], dtype=np.uint32)
    rows, _ = made.answer("rows", 0, 0, wanted, np.ones(4, dtype=np.float32), [])
    error = 2 * (features @ np.ones(3) + 1 - targets)[wanted]
    assert np.allclose(rows.reshape(3, 4), np.column_stack([error[:, None] * features[wanted], error]), atol=1e-4)


def test_a_swarm_of_estimators_learns():
    linear = pytest.importorskip("sklearn.linear_model")
    draw = np.random.default_rng(0)
    features = draw.normal(size=(300, 4))
    labels = (features[:, 0] > 0).astype(int)

    def make(node):
        estimator = linear.SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1)
        mine = slice(100 * node, 100 * node + 100)
        return mm.sklearn.Update(estimator, features[mine], labels[mine], classes=[0, 1])

    settings = {"nodes": 3, "rounds": 10, "privacy.adjacency": "node", "privacy.noise_multiplier": 0.02, "privacy.clip_norm": 5}
    run = mm.simulate(set=settings, trainer=make)
    assert make(0).load(run.model).score(features, labels) > 0.9


def test_a_client_of_flower_runs_without_a_server():
    class Client:
        """What ``flwr.client.NumPyClient`` asks for."""

        def get_parameters(self, config):
            return [np.zeros((2, 3)), np.zeros(2)]

        def fit(self, parameters, config):
            assert config["server_round"] >= 1 and config["epochs"] == 2
            return [layer + 1 for layer in parameters], 10, {"loss": 0.5}

    made = mm.flower.Update(Client(), records=10, config={"epochs": 2})
    assert made.hello()["tensors"] == [{"name": "layer0", "shape": [2, 3]}, {"name": "layer1", "shape": [2]}]
    numbers, loss = made.answer("update", 0, 0, [], np.zeros(8, dtype=np.float32), [])
    assert numbers.tolist() == [1.0] * 8 and loss == 0.5


def test_a_swarm_of_clients_of_flower_learns():
    client = pytest.importorskip("flwr.client")
    draw = np.random.default_rng(0)
    features = draw.normal(size=(300, 3))
    targets = features @ np.array([1.0, -2.0, 0.5])

    class Line(client.NumPyClient):
        """As it was written for a server of Flower."""

        def __init__(self, part):
            self.features, self.targets = features[part], targets[part]

        def get_parameters(self, config):
            return [np.zeros(3)]

        def fit(self, parameters, config):
            (slopes,) = parameters
            for _ in range(10):
                slopes = slopes - 0.2 * self.features.T @ (self.features @ slopes - self.targets) / len(self.targets)
            return [slopes], len(self.targets), {}

    settings = {"nodes": 3, "rounds": 8, "privacy.adjacency": "node", "privacy.noise_multiplier": 0.01, "privacy.clip_norm": 3}
    run = mm.simulate(set=settings, trainer=lambda node: mm.flower.Update(Line(slice(100 * node, 100 * node + 100)), records=100))
    assert np.allclose(run.model, [1.0, -2.0, 0.5], atol=0.15)


EVENTS = [
    {"event": "run"},
    {"event": "released", "round": 3, "loss": 0.5},
    {"event": "released", "round": 4},
    {"event": "round_done", "round": 4, "count": 3},
]


def tell(callback):
    for event in EVENTS:
        callback.event(event)
    callback.close()


def test_callbacks_write_losses_by_round():
    written = []

    class Kept(mm.log._Losses):
        def scalar(self, name, value, step):
            written.append((name, value, step))

    tell(Kept())
    assert written == [("loss", 0.5, 3), ("contributors", 3.0, 4)]


def test_tensorboard_gets_them(tmp_path):
    pytest.importorskip("tensorboardX")
    tell(mm.log.TensorBoard(str(tmp_path)))
    (file,) = tmp_path.glob("events.out.tfevents*")
    content = file.read_bytes()
    assert b"murmur/loss" in content and b"murmur/contributors" in content


def test_mlflow_gets_them(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    with mlflow.start_run() as run:
        tell(mm.log.Mlflow())
    history = mlflow.tracking.MlflowClient().get_metric_history(run.info.run_id, "murmur_loss")
    assert [(metric.step, metric.value) for metric in history] == [(3, 0.5)]


def test_wandb_gets_them(tmp_path):
    wandb = pytest.importorskip("wandb")
    with wandb.init(mode="offline", dir=str(tmp_path)) as run:
        tell(mm.log.Wandb(run))
        assert run.summary["murmur/loss"] == 0.5 and run.summary["murmur/contributors"] == 3.0
