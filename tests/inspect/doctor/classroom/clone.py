"""Imitation: an expert walks to the goal around walls; a small conv net learns its moves. Callbacks, a registry of metrics."""

from collections import deque

import numpy as np
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset

N = 7
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def make_world(rng):
    walls = rng.random((N, N)) < 0.2
    free = np.argwhere(~walls)
    start, goal = free[rng.choice(len(free), 2, replace=False)]
    return walls, tuple(start), tuple(goal)


def distances(walls, goal):
    d = np.full((N, N), np.inf)
    d[goal] = 0
    queue = deque([goal])
    while queue:
        r, c = queue.popleft()
        for dr, dc in MOVES:
            nr, nc = r + dr, c + dc
            if 0 <= nr < N and 0 <= nc < N and not walls[nr, nc] and d[nr, nc] == np.inf:
                d[nr, nc] = d[r, c] + 1
                queue.append((nr, nc))
    return d


def picture(walls, place, goal):
    obs = np.zeros((3, N, N), np.float32)
    obs[0] = walls
    obs[1][place] = 1
    obs[2][goal] = 1
    return obs


def expert_walk(rng):
    walls, place, goal = make_world(rng)
    d = distances(walls, goal)
    states, actions = [], []
    while d[place] not in (0, np.inf):
        r, c = place
        options = []
        for dr, dc in MOVES:
            nr, nc = r + dr, c + dc
            options.append(d[nr, nc] if 0 <= nr < N and 0 <= nc < N else np.inf)
        action = int(np.argmin(options))
        states.append(picture(walls, place, goal))
        actions.append(action)
        place = (r + MOVES[action][0], c + MOVES[action][1])
    return states, actions


def dataset(n_walks, seed):
    rng = np.random.default_rng(seed)
    parts = []
    while len(parts) < n_walks:
        states, actions = expert_walk(rng)
        if states:
            parts.append(TensorDataset(torch.tensor(np.stack(states)), torch.tensor(actions)))
    return ConcatDataset(parts)


class Policy(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.blocks = nn.ModuleList([nn.Conv2d(width, width, 3, padding=1) for _ in range(3)])
        self.norms = nn.ModuleList([nn.GroupNorm(4, width) for _ in range(3)])
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(width, len(MOVES))

    def forward(self, obs):
        h = torch.relu(self.stem(obs))
        for block, norm in zip(self.blocks, self.norms):
            h = h + torch.relu(norm(block(h)))
        here = (h * obs[:, 1:2]).sum(dim=(2, 3))  # what is known of the place where it stands
        return self.head(self.drop(here))


class Callback:
    def on_epoch_end(self, learner): ...


class PrintMetrics(Callback):
    def on_epoch_end(self, learner):
        print(learner.epoch, {k: round(v, 3) for k, v in learner.metrics.items()})


class DecayRate(Callback):
    def __init__(self, factor):
        self.factor = factor

    def on_epoch_end(self, learner):
        for group in learner.opt.param_groups:
            group["lr"] *= self.factor


class Learner:
    def __init__(self, model, train, valid, callbacks, lr=2e-3, batch=64):
        self.model, self.callbacks, self.metrics = model, callbacks, {}
        self.train_dl = DataLoader(train, batch, shuffle=True)
        self.valid_dl = DataLoader(valid, 2 * batch)
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-3)
        self.loss_func = nn.CrossEntropyLoss()

    def one_batch(self, obs, action):
        loss = self.loss_func(self.model(obs), action)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, epochs):
        for self.epoch in range(epochs):
            self.model.train()
            losses = [self.one_batch(obs, action) for obs, action in self.train_dl]
            self.metrics = {"loss": float(np.mean(losses)), **self.validate()}
            for callback in self.callbacks:
                callback.on_epoch_end(self)

    def validate(self):
        self.model.eval()
        right, n = 0, 0
        with torch.inference_mode():
            for obs, action in self.valid_dl:
                right += (self.model(obs).argmax(dim=1) == action).sum().item()
                n += len(action)
        return {"accuracy": right / n}


torch.manual_seed(30)
walks = dataset(500, seed=30)
few = Subset(dataset(60, seed=31), range(200))
learner = Learner(Policy(), walks, few, [PrintMetrics(), DecayRate(0.7)])
learner.fit(4)
