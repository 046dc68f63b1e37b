# Char-RNN that invents names
import random
import string

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(42)
rng = random.Random(42)

onsets = ["b", "d", "k", "l", "m", "n", "r", "s", "t", "v", "ch", "br", "st"]
vowels = ["a", "e", "i", "o", "u", "ia", "ei"]
endings = ["n", "s", "ra", "lla", "tha", "rd", "x", ""]


def random_name():
    name = "".join(rng.choice(onsets) + rng.choice(vowels) for _ in range(rng.randint(1, 3)))
    return name + rng.choice(endings)


names = sorted({random_name() for _ in range(1400)})
rng.shuffle(names)

# 0 is padding, 1 the start, 2 the end of a name
chars = ["<pad>", "<bos>", "<eos>", *string.ascii_lowercase]
char_to_ix = {c: i for i, c in enumerate(chars)}
PAD, BOS, EOS = 0, 1, 2


def encode(name):
    return torch.tensor([BOS] + [char_to_ix[c] for c in name] + [EOS])


n_val = len(names) // 10
val_names, train_names = names[:n_val], names[n_val:]


class CharRNN(nn.Module):
    def __init__(self, n_chars, emb=24, hidden=64, layers=1):
        super().__init__()
        self.emb = nn.Embedding(n_chars, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb, hidden, num_layers=layers, batch_first=True)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(hidden, n_chars)

    def forward(self, x, h=None):
        y, h = self.rnn(self.emb(x), h)
        return self.out(self.drop(y)), h


def batches(data, size, shuffle):
    data = list(data)
    if shuffle:
        rng.shuffle(data)
    for start in range(0, len(data), size):
        ids = pad_sequence([encode(n) for n in data[start : start + size]], batch_first=True, padding_value=PAD)
        yield ids[:, :-1], ids[:, 1:]


model = CharRNN(len(chars))
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.5)


def validate():
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for x, y in batches(val_names, 64, shuffle=False):
            logits, _ = model(x)
            n = (y != PAD).sum().item()
            total += criterion(logits.transpose(1, 2), y).item() * n
            count += n
    return total / count


@torch.no_grad()
def sample(temperature=0.8, max_len=15):
    model.eval()
    x, h, out = torch.tensor([[BOS]]), None, []
    for _ in range(max_len):
        logits, h = model(x, h)
        probs = torch.softmax(logits[0, -1] / temperature, dim=-1)
        ix = torch.multinomial(probs, 1).item()
        if ix == EOS:
            break
        out.append(chars[ix])
        x = torch.tensor([[ix]])
    return "".join(out)


train_losses, val_losses = [], []
for epoch in range(1, 7):
    model.train()
    running, steps = 0.0, 0
    for x, y in batches(train_names, 32, shuffle=True):
        optimizer.zero_grad()
        logits, _ = model(x)
        loss = criterion(logits.transpose(1, 2), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.item()
        steps += 1
    scheduler.step()
    train_losses.append(running / steps)
    val_losses.append(validate())
    print(f"epoch {epoch}: train {train_losses[-1]:.3f} val {val_losses[-1]:.3f} lr {scheduler.get_last_lr()[0]:.4f}")
    print("   ", ", ".join(sample() for _ in range(5)))
