"""Training of several hypotheses (IFCA) under the paper's noise and under sound noise."""
import math
import random

import laplace
import models
import paper


def train(kind, nodes, hypotheses, noise, p, seed):
    """Each node takes the hypothesis that fits it best and releases one step of it; `noise` is a pair (variant, nu). Hypotheses come back."""
    draws = random.Random(f"{seed}/{noise}/{hypotheses}")
    found = [kind.first(draws) for _ in range(hypotheses)]
    release = {"none": bare, "published": published, "sound": sound}[noise[0]]
    last = []
    for round_number in range(p["rounds"]):
        taken = []
        for records in nodes:
            choice = models.best(kind, found, records)
            taken.append((choice, steps(kind, found[choice], records, p)))
        found = release(draws, found, taken, noise[1], p)
        if round_number >= (1 - p["average"]) * p["rounds"]:
            last.append(found)
    # The mean of the last rounds reads what everybody has: it costs nothing.
    return [[paper.mean(column) for column in zip(*models_)] for models_ in zip(*last)]


def steps(kind, model, records, p):
    """The change of a model by plain steps on the node's own records."""
    moved = model
    for _ in range(p["steps"]):
        moved = [x - p["step"] * by for x, by in zip(moved, kind.gradient(moved, records))]
    return [after - before for after, before in zip(moved, model)]


def bare(draws, found, taken, nu, p):
    return averaged(found, taken)


def published(draws, found, taken, nu, p):
    """The paper's heuristic: noise as long as nu times the update itself, and the choice in the open. No guarantee: the length is private."""
    noisy = []
    for choice, update in taken:
        length = math.sqrt(sum(x * x for x in update))
        if length > 0:  # A node whose update is zero says so.
            added = laplace.noise(draws, len(update), len(update) / (nu * length))
            update = [x + by for x, by in zip(update, added)]
        noisy.append((choice, update))
    return averaged(found, noisy)


def averaged(found, taken):
    """Every hypothesis moves by the mean of the updates of those who took it."""
    moved = []
    for at, model in enumerate(found):
        updates = [update for choice, update in taken if choice == at]
        moved.append([x + math.fsum(column) / len(updates) for x, column in zip(model, zip(*updates))] if updates else model)
    return moved


def sound(draws, found, taken, nu, p):
    """Clipped to a public radius, epsilon per unit n/(nu * radius), noise on all slots so that nobody sees which one was taken."""
    size, slots = len(found[0]), len(found)
    per_unit = size / (nu * p["radius"])
    total = [[0.0] * size for _ in found]
    for choice, update in taken:
        length = math.sqrt(sum(x * x for x in update))
        scale = min(1.0, p["radius"] / length) if length > 0 else 1.0
        added = laplace.noise(draws, size * slots, per_unit)
        for at in range(slots):
            for column in range(size):
                total[at][column] += added[at * size + column] + (scale * update[column] if at == choice else 0.0)
    # Nobody counts who is where: a slot's sum is divided by nodes over slots, which is public.
    return [[x + sum_ * slots / len(taken) for x, sum_ in zip(model, sums)] for model, sums in zip(found, total)]
