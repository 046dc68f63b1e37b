# Speech commands with the M5 network (1-D convolutions on the waveform)
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset

labels = ["down", "go", "left", "no", "right", "stop", "up", "yes"]
sample_rate, new_sample_rate = 2000, 1000


class ToySpeechCommands(Dataset):
    """Waveforms of two tones each, whose pitches rise or fall; spoken by many speakers"""

    def __init__(self, subset):
        seed, size = {"training": (0, 800), "testing": (1, 200)}[subset]
        gen = torch.Generator().manual_seed(seed)
        self.items = []
        t = torch.arange(sample_rate // 2) / sample_rate
        for _ in range(size):
            k = int(torch.randint(len(labels), (1,), generator=gen))
            pitch = 60 + 45 * (k // 2) + 6 * torch.randn(1, generator=gen)
            slope = (90 if k % 2 else -30) * t
            length = int(torch.randint(700, 1001, (1,), generator=gen))
            wave = torch.sin(2 * math.pi * (pitch + slope) * t)[:length] + 0.3 * torch.randn(length, generator=gen)
            self.items.append((wave[None], sample_rate, labels[k], f"speaker{len(self.items) % 40}"))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, n):
        return self.items[n]


def label_to_index(word):
    return torch.tensor(labels.index(word))


def index_to_label(index):
    return labels[index]


def pad_sequence(batch):
    batch = [item.t() for item in batch]
    batch = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=0.0)
    return batch.permute(0, 2, 1)


def collate_fn(batch):
    tensors, targets = [], []
    for waveform, _, label, *_ in batch:
        tensors += [waveform]
        targets += [label_to_index(label)]
    return pad_sequence(tensors), torch.stack(targets)


def transform(waveform):
    # halve the rate
    return F.avg_pool1d(waveform, sample_rate // new_sample_rate)


class M5(nn.Module):
    def __init__(self, n_input=1, n_output=35, stride=4, n_channel=16):
        super().__init__()
        self.conv1 = nn.Conv1d(n_input, n_channel, kernel_size=40, stride=stride)
        self.bn1 = nn.BatchNorm1d(n_channel)
        self.pool1 = nn.MaxPool1d(2)
        self.conv2 = nn.Conv1d(n_channel, n_channel, kernel_size=3)
        self.bn2 = nn.BatchNorm1d(n_channel)
        self.pool2 = nn.MaxPool1d(2)
        self.conv3 = nn.Conv1d(n_channel, 2 * n_channel, kernel_size=3)
        self.bn3 = nn.BatchNorm1d(2 * n_channel)
        self.pool3 = nn.MaxPool1d(2)
        self.fc1 = nn.Linear(2 * n_channel, n_output)

    def forward(self, x):
        x = self.pool1(F.relu(self.bn1(self.conv1(x))))
        x = self.pool2(F.relu(self.bn2(self.conv2(x))))
        x = self.pool3(F.relu(self.bn3(self.conv3(x))))
        x = F.avg_pool1d(x, x.shape[-1])
        x = x.permute(0, 2, 1)
        x = self.fc1(x)
        return F.log_softmax(x, dim=2)


torch.manual_seed(3)
random.seed(3)
train_set = ToySpeechCommands("training")
test_set = ToySpeechCommands("testing")
train_loader = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate_fn)
test_loader = DataLoader(test_set, batch_size=32, shuffle=False, drop_last=False, collate_fn=collate_fn)

model = M5(n_output=len(labels))
optimizer = optim.Adam(model.parameters(), lr=0.01, weight_decay=0.0001)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.1)
losses = []


def train(model, epoch, log_interval):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        data = transform(data)
        output = model(data)
        loss = F.nll_loss(output.squeeze(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if batch_idx % log_interval == 0:
            print(f"Train Epoch: {epoch} [{batch_idx * len(data)}/{len(train_loader.dataset)}]\tLoss: {loss.item():.6f}")
        losses.append(loss.item())


def number_of_correct(pred, target):
    return pred.squeeze(1).eq(target).sum().item()


def get_likely_index(tensor):
    return tensor.argmax(dim=-1)


def test(model, epoch):
    model.eval()
    correct = 0
    confusion = torch.zeros(len(labels), len(labels), dtype=torch.long)
    with torch.no_grad():
        for data, target in test_loader:
            data = transform(data)
            output = model(data)
            pred = get_likely_index(output)
            correct += number_of_correct(pred, target)
            for t, p in zip(target, pred.squeeze(1)):
                confusion[t, p] += 1
    accuracy = 100.0 * correct / len(test_loader.dataset)
    print(f"\nTest Epoch: {epoch}\tAccuracy: {correct}/{len(test_loader.dataset)} ({accuracy:.0f}%)\n")
    return confusion


for epoch in range(1, 6):
    train(model, epoch, log_interval=10)
    confusion = test(model, epoch)
    scheduler.step()
print(confusion)


def predict(tensor):
    model.eval()
    with torch.no_grad():
        tensor = model(transform(tensor).unsqueeze(0))
    return index_to_label(get_likely_index(tensor).item())


waveform, _, utterance, *_ = test_set[random.randrange(len(test_set))]
print(f"Expected: {utterance}. Predicted: {predict(waveform)}.")
