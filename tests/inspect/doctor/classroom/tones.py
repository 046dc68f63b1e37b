"""Words of tones: frames of a spectrum, convolutions and a GRU, CTC, greedy decoding."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
LETTERS, BANDS = 8, 12  # 0 is the blank


def say(n):
    """(frames (T, B, bands), letters (B, S), lengths of both)."""
    lengths = torch.randint(2, 5, (n,))
    letters = torch.zeros(n, 4, dtype=torch.long)
    frames = 0.2 * torch.randn(n, 32, BANDS)
    frame_lengths = torch.zeros(n, dtype=torch.long)
    for i in range(n):
        at = 0
        for j in range(lengths[i]):
            letter = torch.randint(1, LETTERS, ()).item()
            letters[i, j] = letter
            long = torch.randint(4, 8, ()).item()
            frames[i, at : at + long, letter] += 2.0
            at += long
        frame_lengths[i] = at
        frames[i, at:] = 0.0
    return frames, letters, frame_lengths, lengths


class Recognizer(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.norm = nn.LayerNorm(BANDS)
        self.conv = nn.Conv1d(BANDS, hidden, 3, padding=1)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(2 * hidden, LETTERS)

    def forward(self, frames):
        x = self.norm(frames).transpose(1, 2)
        x = F.gelu(self.conv(x)).transpose(1, 2)
        x, _ = self.rnn(x)
        return F.log_softmax(self.out(self.drop(x)), dim=-1)


def greedy(log_probs, lengths):
    words = []
    for row, n in zip(log_probs.argmax(-1), lengths):
        letters, before = [], 0
        for letter in row[:n].tolist():
            if letter != before and letter:
                letters.append(letter)
            before = letter
        words.append(letters)
    return words


def evaluate(model, frames, letters, frame_lengths, lengths):
    model.eval()
    with torch.no_grad():
        words = greedy(model(frames), frame_lengths)
    model.train()
    right = sum(word == letters[i, : lengths[i]].tolist() for i, word in enumerate(words))
    return right / len(words)


train, dev = say(320), say(48)
model = Recognizer()
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
steps = 40
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=steps)
for step in range(steps):
    rows = torch.randperm(320)[:24]
    frames, letters, frame_lengths, lengths = (each[rows] for each in train)
    log_probs = model(frames)
    loss = ctc(log_probs.transpose(0, 1), letters, frame_lengths, lengths)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    scheduler.step()
    if step % 10 == 9:
        print(step + 1, loss.item(), evaluate(model, *dev))
