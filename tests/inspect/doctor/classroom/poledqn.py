"""Deep Q-learning on a cart with a pole; the environment is written here (after the DQN tutorial)."""

import math
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

random.seed(3)
torch.manual_seed(3)


class CartPole:
    """The usual physics; an episode ends when the pole falls, or after 200 steps."""

    def reset(self):
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]
        self.t = 0
        return self.state

    def step(self, action):
        x, v, angle, w = self.state
        force = 10.0 if action == 1 else -10.0
        temp = (force + 0.05 * w * w * math.sin(angle)) / 1.1
        acc_angle = (9.8 * math.sin(angle) - math.cos(angle) * temp) / (0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1))
        acc = temp - 0.05 * acc_angle * math.cos(angle) / 1.1
        self.state = [x + 0.02 * v, v + 0.02 * acc, angle + 0.02 * w, w + 0.02 * acc_angle]
        self.t += 1
        fallen = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21
        return self.state, 1.0, fallen, self.t >= 200


Transition = namedtuple("Transition", ("state", "action", "next_state", "reward", "done"))


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_observations, 64)
        self.layer2 = nn.Linear(64, 64)
        self.layer3 = nn.Linear(64, n_actions)

    def forward(self, x):
        x = F.relu(self.layer1(x))
        x = F.relu(self.layer2(x))
        return self.layer3(x)


BATCH_SIZE = 64
GAMMA = 0.98
EPS_START, EPS_END, EPS_DECAY = 0.9, 0.05, 600
TAU = 0.02
LR = 1e-3

env = CartPole()
policy_net = DQN(4, 2)
target_net = DQN(4, 2)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=LR, amsgrad=True)
memory = ReplayMemory(5000)
steps_done = 0


def select_action(state):
    global steps_done
    eps_threshold = EPS_END + (EPS_START - EPS_END) * math.exp(-steps_done / EPS_DECAY)
    steps_done += 1
    if random.random() > eps_threshold:
        with torch.no_grad():
            return policy_net(state).max(1).indices.view(1, 1)
    return torch.tensor([[random.randrange(2)]], dtype=torch.long)


def optimize_model():
    if len(memory) < BATCH_SIZE:
        return
    transitions = memory.sample(BATCH_SIZE)
    batch = Transition(*zip(*transitions))
    state_batch = torch.cat(batch.state)
    action_batch = torch.cat(batch.action)
    next_state_batch = torch.cat(batch.next_state)
    reward_batch = torch.cat(batch.reward)
    done_batch = torch.cat(batch.done)

    state_action_values = policy_net(state_batch).gather(1, action_batch)
    with torch.no_grad():
        next_state_values = target_net(next_state_batch).max(1).values
    expected = reward_batch + GAMMA * next_state_values * (1 - done_batch)

    criterion = nn.SmoothL1Loss()
    loss = criterion(state_action_values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()


durations = []
for i_episode in range(60):
    state = torch.tensor([env.reset()], dtype=torch.float32)
    while True:
        action = select_action(state)
        observation, reward, terminated, truncated = env.step(action.item())
        next_state = torch.tensor([observation], dtype=torch.float32)
        memory.push(state, action, next_state, torch.tensor([reward]), torch.tensor([float(terminated)]))
        state = next_state
        optimize_model()
        target_dict = target_net.state_dict()
        policy_dict = policy_net.state_dict()
        for key in policy_dict:
            target_dict[key] = policy_dict[key] * TAU + target_dict[key] * (1 - TAU)
        target_net.load_state_dict(target_dict)
        if terminated or truncated:
            durations.append(env.t)
            break
    if (i_episode + 1) % 10 == 0:
        print(f"episode {i_episode + 1}: mean duration of the last ten {sum(durations[-10:]) / 10:.1f}")
