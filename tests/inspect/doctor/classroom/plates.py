"""Number plates read by a convolutional recurrent net with CTC, greedy decoding and the rate of wrong letters."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(303)
LETTERS = "-ABCDEFGH0123456"  # the first is the blank
PATTERN = torch.randn(len(LETTERS), 8, 5, generator=torch.Generator().manual_seed(9))


class Plates(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.texts = [torch.randint(1, len(LETTERS), (int(torch.randint(3, 7, (1,), generator=g)),), generator=g) for _ in range(n)]
        self.noise = torch.randn(n, 8, 48, generator=g) * 0.3

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        picture = self.noise[i].clone()
        x = 2
        for c in self.texts[i]:
            picture[:, x : x + 5] += PATTERN[c]
            x += 7
        return picture.unsqueeze(0), self.texts[i]


def collate(rows):
    pictures, texts = zip(*rows, strict=True)
    lengths = torch.tensor([len(t) for t in texts])
    return torch.stack(pictures), pad_sequence(texts, batch_first=True, padding_value=0), lengths


class CRNN(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d((2, 2)),
            nn.Conv2d(16, 20, 3, padding=1),
            nn.BatchNorm2d(20),
            nn.ReLU(),
            nn.MaxPool2d((2, 1)),
        )
        self.rnn = nn.GRU(20 * 2, hidden, bidirectional=True, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(2 * hidden, len(LETTERS))

    def forward(self, x):
        features = self.cnn(x)  # (B, 20, 2, 24)
        b, c, h, w = features.shape
        features = features.permute(0, 3, 1, 2).reshape(b, w, c * h)
        states, _ = self.rnn(features)
        return self.out(self.drop(states)).log_softmax(dim=2).permute(1, 0, 2)  # (T, B, letters)


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def decode(log_probs):
    best = log_probs.argmax(dim=2).T.tolist()
    texts = []
    for path in best:
        texts.append([c for i, c in enumerate(path) if c and (i == 0 or path[i - 1] != c)])
    return texts


def wrong_letters(net, loader):
    net.eval()
    wrong = total = 0
    with torch.inference_mode():
        for pictures, targets, lengths in loader:
            for said, target, n in zip(decode(net(pictures)), targets.tolist(), lengths.tolist(), strict=True):
                wrong += distance(said, target[:n])
                total += n
    net.train()
    return wrong / total


train_loader = DataLoader(Plates(640, 1), batch_size=32, shuffle=True, collate_fn=collate)
val_loader = DataLoader(Plates(128, 2), batch_size=64, collate_fn=collate)
net = CRNN()
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
best, patience, waited = float("inf"), 5, 0

for epoch in range(20):
    running = 0.0
    for pictures, targets, target_lengths in train_loader:
        log_probs = net(pictures)
        input_lengths = torch.full((log_probs.size(1),), log_probs.size(0), dtype=torch.long)
        loss = ctc(log_probs, targets, input_lengths, target_lengths)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        running += loss.item()
    rate = wrong_letters(net, val_loader)
    print(f"epoch {epoch} loss {running / len(train_loader):.3f} wrong letters {rate:.3f}")
    if rate < best:
        best, waited = rate, 0
        kept = {k: v.detach().clone() for k, v in net.state_dict().items()}
    else:
        waited += 1
        if waited >= patience:
            break
net.load_state_dict(kept)
print("best", wrong_letters(net, val_loader))
