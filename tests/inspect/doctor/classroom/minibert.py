"""Masked language modelling, BERT in small (notebook exported to a script)."""

# In[1]:
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)

# In[2]: corpus
subjects = {"cat": "meows", "dog": "barks", "cow": "moos", "bird": "sings", "lion": "roars", "duck": "quacks"}
places = ["garden", "house", "forest", "yard", "barn"]
times = ["morning", "evening", "night"]


def sentence():
    s = random.choice(list(subjects))
    words = ["the", s, subjects[s], "in", "the", random.choice(places)]
    if random.random() < 0.6:
        words += ["every", random.choice(times)]
    return words


sentences = [sentence() for _ in range(2000)]
vocab = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"] + sorted({w for s in sentences for w in s})
word2id = {w: i for i, w in enumerate(vocab)}
PAD, CLS, SEP, MASK = 0, 1, 2, 3
MAXLEN = 12


def encode(words):
    ids = [CLS] + [word2id[w] for w in words] + [SEP]
    return ids + [PAD] * (MAXLEN - len(ids))


ids = torch.tensor([encode(s) for s in sentences])
train_ids, val_ids = ids[:1700], ids[1700:]


# In[3]: masking: 15% of the words, of which 80% [MASK], 10% another word, 10% as they are
def mask_tokens(inputs):
    inputs = inputs.clone()
    labels = inputs.clone()
    probability = torch.full(inputs.shape, 0.15)
    probability.masked_fill_(inputs < 4, 0.0)
    masked = torch.bernoulli(probability).bool()
    labels[~masked] = -100
    replaced = torch.bernoulli(torch.full(inputs.shape, 0.8)).bool() & masked
    inputs[replaced] = MASK
    randomized = torch.bernoulli(torch.full(inputs.shape, 0.5)).bool() & masked & ~replaced
    inputs[randomized] = torch.randint(4, len(vocab), inputs.shape)[randomized]
    return inputs, labels


# In[4]: model
class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(max_len).unsqueeze(1).float()
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class MiniBert(nn.Module):
    def __init__(self, vocab_size, d_model=48, nhead=4, num_layers=2, dropout=0.1):
        super().__init__()
        self.d_model = d_model
        self.embed = nn.Embedding(vocab_size, d_model, padding_idx=PAD)
        self.pos = PositionalEncoding(d_model, MAXLEN)
        layer = nn.TransformerEncoderLayer(d_model, nhead, 96, dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)
        self.dense = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.decoder = nn.Linear(d_model, vocab_size)

    def forward(self, x):
        pad_mask = x == PAD
        h = self.pos(self.embed(x) * math.sqrt(self.d_model))
        h = self.encoder(h, src_key_padding_mask=pad_mask)
        h = self.norm(F.gelu(self.dense(h)))
        return self.decoder(h)


# In[5]: training
model = MiniBert(len(vocab))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
criterion = nn.CrossEntropyLoss(ignore_index=-100)
BATCH, EPOCHS = 50, 4

for epoch in range(EPOCHS):
    model.train()
    order = torch.randperm(len(train_ids))
    total, batches = 0.0, 0
    for i in range(0, len(order), BATCH):
        x, y = mask_tokens(train_ids[order[i : i + BATCH]])
        logits = model(x)
        loss = criterion(logits.reshape(-1, len(vocab)), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
        batches += 1

    model.eval()
    with torch.no_grad():
        x, y = mask_tokens(val_ids)
        logits = model(x)
        val_loss = criterion(logits.reshape(-1, len(vocab)), y.reshape(-1))
        pred = logits.argmax(-1)
        asked = y != -100
        acc = (pred[asked] == y[asked]).float().mean()
    print(f"epoch {epoch + 1} train {total / batches:.3f} val {val_loss:.3f} acc {acc:.3f}")

# In[6]: fill in a word
test = torch.tensor([encode("the dog [MASK] in the garden".split())])
with torch.no_grad():
    probs = F.softmax(model(test)[0, 3], dim=-1)
for p, i in zip(*probs.topk(3), strict=True):
    print(f"{vocab[i]}: {p:.3f}")
