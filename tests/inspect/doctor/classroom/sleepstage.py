"""Sleep stages: a CNN reads each 30 s of EEG, a GRU the order of the night."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

STAGES = ["wake", "light", "deep", "rem"]
FREQS = {0: (9.0, 0.8), 1: (5.0, 1.0), 2: (1.5, 2.0), 3: (6.0, 0.6)}
RATE, SECONDS = 32, 4
SEQ_LEN = 10
TRANSITIONS = np.array([[0.80, 0.18, 0.00, 0.02], [0.06, 0.70, 0.16, 0.08], [0.01, 0.20, 0.79, 0.00], [0.06, 0.12, 0.00, 0.82]])


def simulate_night(rng, epochs=100):
    """One night of one person: EEG (epochs, samples) in microvolts, and the stage of each epoch."""
    t = np.arange(RATE * SECONDS) / RATE
    gain, stage = rng.uniform(0.7, 1.3), 0
    eeg, stages = [], []
    for _ in range(epochs):
        freq, amplitude = FREQS[stage]
        f = freq * rng.uniform(0.85, 1.15)
        wave = amplitude * np.sin(2 * np.pi * (f * t + rng.rand())) + rng.normal(0, 0.7, len(t))
        eeg.append(30.0 * gain * wave)
        stages.append(stage)
        stage = rng.choice(4, p=TRANSITIONS[stage])
    return np.array(eeg, dtype=np.float32), np.array(stages)


def normalize(eeg):
    # each night by itself: amplifiers differ
    return (eeg - eeg.mean()) / eeg.std()


class NightDataset(Dataset):
    def __init__(self, nights, seq_len=SEQ_LEN, stride=5):
        self.samples = []
        for eeg, stages in nights:
            eeg = normalize(eeg)
            for start in range(0, len(stages) - seq_len + 1, stride):
                x = torch.from_numpy(eeg[start : start + seq_len]).unsqueeze(1)
                y = torch.from_numpy(stages[start : start + seq_len])
                self.samples.append((x, y))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, idx):
        return self.samples[idx]


class EpochEncoder(nn.Module):
    def __init__(self, channels=16, features=32):
        super().__init__()
        self.conv1 = nn.Conv1d(1, channels, kernel_size=9, stride=2, padding=4)
        self.bn1 = nn.BatchNorm1d(channels)
        self.conv2 = nn.Conv1d(channels, features, kernel_size=5, stride=2, padding=2)
        self.bn2 = nn.BatchNorm1d(features)
        self.pool = nn.AdaptiveAvgPool1d(1)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        return self.pool(x).squeeze(-1)


class SleepNet(nn.Module):
    def __init__(self, features=32, hidden=32, n_classes=4):
        super().__init__()
        self.encoder = EpochEncoder(features=features)
        self.gru = nn.GRU(features, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.25)
        self.classifier = nn.Linear(hidden * 2, n_classes)

    def forward(self, x):
        batch, steps = x.shape[:2]
        z = self.encoder(x.flatten(0, 1)).view(batch, steps, -1)
        h, _ = self.gru(z)
        return self.classifier(self.dropout(h))


def cohen_kappa(confusion):
    total = confusion.sum()
    observed = np.trace(confusion) / total
    expected = (confusion.sum(axis=0) * confusion.sum(axis=1)).sum() / total**2
    return (observed - expected) / (1 - expected)


class Experiment:
    def __init__(self, train_nights, val_nights, batch_size=16, lr=2e-3):
        self.train_loader = DataLoader(NightDataset(train_nights), batch_size=batch_size, shuffle=True, drop_last=True)
        self.val_loader = DataLoader(NightDataset(val_nights, stride=SEQ_LEN), batch_size=batch_size)
        self.model = SleepNet()
        counts = np.bincount(np.concatenate([s for _, s in train_nights]), minlength=4)
        weights = torch.tensor(counts.sum() / (4 * counts), dtype=torch.float32)
        self.criterion = nn.CrossEntropyLoss(weight=weights)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr, weight_decay=1e-3)
        self.best = {"kappa": -1.0, "state": None}

    def fit(self, epochs):
        for epoch in range(1, epochs + 1):
            self.model.train()
            total, n = 0.0, 0
            for x, y in self.train_loader:
                self.optimizer.zero_grad()
                logits = self.model(x)
                loss = self.criterion(logits.reshape(-1, 4), y.reshape(-1))
                loss.backward()
                self.optimizer.step()
                total += loss.item() * y.size(0)
                n += y.size(0)
            kappa, accuracy = self.validate()
            if kappa > self.best["kappa"]:
                self.best = {"kappa": kappa, "state": {k: v.clone() for k, v in self.model.state_dict().items()}}
            print(f"epoch {epoch}: loss {total / n:.4f} val accuracy {accuracy:.3f} kappa {kappa:.3f}")
        self.model.load_state_dict(self.best["state"])

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        confusion = np.zeros((4, 4))
        for x, y in self.val_loader:
            pred = self.model(x).argmax(dim=-1)
            np.add.at(confusion, (y.numpy().ravel(), pred.numpy().ravel()), 1)
        return cohen_kappa(confusion), np.trace(confusion) / confusion.sum()


if __name__ == "__main__":
    rng = np.random.RandomState(4)
    torch.manual_seed(4)
    nights = [simulate_night(rng) for _ in range(16)]
    experiment = Experiment(nights[:12], nights[12:])
    experiment.fit(epochs=5)
    kappa, accuracy = experiment.validate()
    print(f"best model: kappa {kappa:.3f}, accuracy {accuracy:.3f}")
