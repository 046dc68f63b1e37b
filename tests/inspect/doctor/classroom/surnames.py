"""Classifying surnames with a character-level RNN."""

import math
import random
import time

import torch
import torch.nn as nn

random.seed(2)
torch.manual_seed(2)

# endings and beginnings of surnames of four languages
PARTS = {
    "Russian": (["iva", "petr", "smir", "kuz", "vol", "moroz"], ["ov", "ev", "in", "sky", "enko"]),
    "Italian": (["ross", "bian", "ferr", "espos", "ricc", "mar"], ["ini", "elli", "etti", "one", "ucci"]),
    "German": (["schm", "baum", "berg", "wein", "stein", "zimm"], ["ner", "mann", "hardt", "stein", "ler"]),
    "Japanese": (["taka", "yama", "naka", "matsu", "kawa", "fuji"], ["moto", "shita", "mura", "saki", "hara"]),
}
all_letters = "abcdefghijklmnopqrstuvwxyz"
n_letters = len(all_letters)
all_categories = list(PARTS)
n_categories = len(all_categories)

category_lines = {}
for category, (starts, ends) in PARTS.items():
    names = {random.choice(starts) + random.choice(["", "a", "o", "i"]) + random.choice(ends) for _ in range(120)}
    category_lines[category] = sorted(names)

train_lines, test_lines = {}, {}
for category, lines in category_lines.items():
    random.shuffle(lines)
    cut = int(0.8 * len(lines))
    train_lines[category], test_lines[category] = lines[:cut], lines[cut:]


def lineToTensor(line):
    """<line_length x 1 x n_letters>, one-hot"""
    tensor = torch.zeros(len(line), 1, n_letters)
    for li, letter in enumerate(line):
        tensor[li][0][all_letters.index(letter)] = 1
    return tensor


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        hidden = torch.tanh(self.i2h(input) + self.h2h(hidden))
        output = self.h2o(hidden)
        output = self.softmax(output)
        return output, hidden

    def initHidden(self):
        return torch.zeros(1, self.hidden_size)


def randomTrainingExample():
    category = random.choice(all_categories)
    line = random.choice(train_lines[category])
    category_tensor = torch.tensor([all_categories.index(category)], dtype=torch.long)
    return category, line, category_tensor, lineToTensor(line)


rnn = RNN(n_letters, 64, n_categories)
criterion = nn.NLLLoss()
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.02)


def train(category_tensor, line_tensor):
    hidden = rnn.initHidden()
    optimizer.zero_grad()
    for i in range(line_tensor.size()[0]):
        output, hidden = rnn(line_tensor[i], hidden)
    loss = criterion(output, category_tensor)
    loss.backward()
    nn.utils.clip_grad_norm_(rnn.parameters(), 2.0)
    optimizer.step()
    return output, loss.item()


def evaluate(line_tensor):
    hidden = rnn.initHidden()
    with torch.no_grad():
        for i in range(line_tensor.size()[0]):
            output, hidden = rnn(line_tensor[i], hidden)
    return output


def categoryFromOutput(output):
    top_n, top_i = output.topk(1)
    return all_categories[top_i[0].item()]


def timeSince(since):
    s = time.time() - since
    return f"{math.floor(s / 60)}m {s % 60:.0f}s"


n_iters = 2500
print_every = 500
current_loss = 0
start = time.time()
for iter in range(1, n_iters + 1):
    category, line, category_tensor, line_tensor = randomTrainingExample()
    output, loss = train(category_tensor, line_tensor)
    current_loss += loss
    if iter % print_every == 0:
        guess = categoryFromOutput(output)
        correct = "Y" if guess == category else f"N ({category})"
        print(f"{iter} {iter / n_iters:.0%} {current_loss / print_every:.4f} {line} / {guess} {correct}")
        current_loss = 0

right = total = 0
for category, lines in test_lines.items():
    for line in lines:
        right += categoryFromOutput(evaluate(lineToTensor(line))) == category
        total += 1
print(f"accuracy on new names: {right / total:.3f}")
