"""Q-learning on a small grid: a target net, TD targets under no_grad, replay, an epsilon that falls, Huber's loss."""

import random
from collections import deque

import torch
from torch import nn

random.seed(7)
torch.manual_seed(7)
SIZE = 5


def net():
    return nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 4))


def seen(place, goal):
    return torch.tensor([*place, *goal], dtype=torch.float32) / SIZE


q, target = net(), net()
target.load_state_dict(q.state_dict())
optimizer = torch.optim.RMSprop(q.parameters(), lr=1e-3)
memory, moves = deque(maxlen=2000), [(0, 1), (0, -1), (1, 0), (-1, 0)]
steps = 0
for _ in range(60):
    place, goal = [random.randrange(SIZE) for _ in range(2)], [random.randrange(SIZE) for _ in range(2)]
    for _ in range(12):
        state = seen(place, goal)
        if random.random() < max(0.1, 1 - steps / 400):
            action = random.randrange(4)
        else:
            with torch.no_grad():
                action = q(state).argmax().item()
        place = [min(SIZE - 1, max(0, p + d)) for p, d in zip(place, moves[action], strict=True)]
        done = place == goal
        memory.append((state, action, 1.0 if done else -0.05, seen(place, goal), float(done)))
        if len(memory) >= 64:
            s, a, r, s2, d = zip(*random.sample(memory, 32), strict=True)
            value = q(torch.stack(s)).gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1)
            with torch.no_grad():
                wanted = torch.tensor(r) + 0.95 * (1 - torch.tensor(d)) * target(torch.stack(s2)).max(1).values
            loss = nn.functional.smooth_l1_loss(value, wanted)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_value_(q.parameters(), 1.0)
            optimizer.step()
            steps += 1
            if steps % 50 == 0:
                target.load_state_dict(q.state_dict())
                print(steps, loss.item())
        if done:
            break
