"""Topics of short texts: a vocabulary, padding by collate, an encoder of PyTorch's layers, warmup and linear decay by step."""

import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(17)
random.seed(17)
TOPICS = {
    "sport": "ball team goal win run match",
    "food": "bread soup salt cook taste oven",
    "sea": "wave ship fish salt wind sail",
}
OTHERS = "the a of and with on in at it is very quite good bad new old".split()
vocab = {"<pad>": 0, "<unk>": 1}
for word in OTHERS + " ".join(TOPICS.values()).split():
    vocab.setdefault(word, len(vocab))


def sample():
    label = random.randrange(3)
    own = list(TOPICS.values())[label].split()
    words = [random.choice(own if random.random() < 0.35 else OTHERS) for _ in range(random.randint(5, 14))]
    return " ".join(words), label


train_data, valid_data = [sample() for _ in range(560)], [sample() for _ in range(120)]


def collate(batch):
    texts = [torch.tensor([vocab.get(w, 1) for w in text.split()]) for text, _ in batch]
    labels = torch.tensor([label for _, label in batch])
    return pad_sequence(texts, batch_first=True, padding_value=0), labels


train_loader = DataLoader(train_data, batch_size=28, shuffle=True, collate_fn=collate)
valid_loader = DataLoader(valid_data, batch_size=40, collate_fn=collate)


class TextClassifier(nn.Module):
    def __init__(self, size, d=32, classes=3):
        super().__init__()
        self.embedding, self.position = nn.Embedding(size, d, padding_idx=0), nn.Embedding(20, d)
        layer = nn.TransformerEncoderLayer(d, 4, 64, 0.1, batch_first=True)
        self.encoder, self.fc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(d, classes)

    def forward(self, ids):
        pad = ids == 0
        x = self.embedding(ids) + self.position(torch.arange(ids.size(1)))
        x = self.encoder(x, src_key_padding_mask=pad)
        x = x.masked_fill(pad.unsqueeze(-1), 0).sum(1) / (~pad).sum(1, keepdim=True)
        return self.fc(x)


model = TextClassifier(len(vocab))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
total_steps = 2 * len(train_loader)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min((s + 1) / 5, (total_steps - s) / total_steps))
for epoch in range(2):
    model.train()
    for ids, labels in train_loader:
        logits = model(ids)
        loss = criterion(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    model.eval()
    hits, val_loss = 0, 0.0
    with torch.no_grad():
        for ids, labels in valid_loader:
            logits = model(ids)
            val_loss += criterion(logits, labels).item() * len(labels)
            hits += (logits.argmax(-1) == labels).sum().item()
    print(epoch, f"{loss.item():.3f} {val_loss / len(valid_data):.3f} {hits / len(valid_data):.3f}")
