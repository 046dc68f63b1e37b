"""word2vec (skip-gram with negative sampling) on a toy corpus; homework of the NLP course."""

import collections

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(0)
torch.manual_seed(0)

GROUPS = {
    "animals": "cat dog horse cow sheep goat".split(),
    "colours": "red green blue yellow black white".split(),
    "numbers": "one two three four five six".split(),
    "food": "bread rice soup cheese apple meat".split(),
}
VERBS = {"animals": "runs sleeps", "colours": "shines fades", "numbers": "adds counts", "food": "tastes smells"}


def make_corpus(n):
    """Sentences in which words of one group stand together."""
    sentences = []
    for _ in range(n):
        group = rng.choice(list(GROUPS))
        words = list(rng.choice(GROUPS[group], 4)) + [rng.choice(VERBS[group].split())] + ["the"]
        rng.shuffle(words)
        sentences.append([str(w) for w in words])
    return sentences


corpus = make_corpus(700)
counts = collections.Counter(w for s in corpus for w in s)
vocab = [w for w, _ in counts.most_common()]
word_to_ix = {w: i for i, w in enumerate(vocab)}

# (center, context) pairs
WINDOW = 2
pairs = []
for sentence in corpus:
    ids = [word_to_ix[w] for w in sentence]
    for i, center in enumerate(ids):
        for j in range(max(0, i - WINDOW), min(len(ids), i + WINDOW + 1)):
            if i != j:
                pairs.append((center, ids[j]))
pairs = torch.tensor(pairs)

# negatives are drawn by frequency ** 0.75
freq = np.array([counts[w] for w in vocab], dtype=np.float64) ** 0.75
noise = torch.tensor(freq / freq.sum())


class SkipGram(nn.Module):
    def __init__(self, vocab_size, embed_dim):
        super().__init__()
        self.in_embed = nn.Embedding(vocab_size, embed_dim)
        self.out_embed = nn.Embedding(vocab_size, embed_dim)
        nn.init.uniform_(self.in_embed.weight, -0.5 / embed_dim, 0.5 / embed_dim)
        nn.init.zeros_(self.out_embed.weight)

    def forward(self, center, context, negatives):
        v = self.in_embed(center)
        u = self.out_embed(context)
        n = self.out_embed(negatives)
        positive_score = (v * u).sum(dim=1)
        negative_score = torch.bmm(n, v.unsqueeze(2)).squeeze(2)
        positive_loss = F.logsigmoid(positive_score)
        negative_loss = F.logsigmoid(-negative_score).sum(dim=1)
        return -(positive_loss + negative_loss).mean()


EMBED_DIM, BATCH_SIZE, NEGATIVES, EPOCHS = 16, 128, 5, 4
model = SkipGram(len(vocab), EMBED_DIM)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(EPOCHS):
    shuffled = pairs[torch.randperm(len(pairs))]
    total_loss = 0.0
    for start in range(0, len(shuffled), BATCH_SIZE):
        batch = shuffled[start : start + BATCH_SIZE]
        center, context = batch[:, 0], batch[:, 1]
        negatives = torch.multinomial(noise, len(batch) * NEGATIVES, replacement=True).view(len(batch), NEGATIVES)
        loss = model(center, context, negatives)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * len(batch)
    print("epoch", epoch, "loss", round(total_loss / len(pairs), 4))

# nearest neighbours by cosine
vectors = F.normalize(model.in_embed.weight.detach(), dim=1)


def nearest(word, k=3):
    scores = vectors @ vectors[word_to_ix[word]]
    best = scores.argsort(descending=True)[1 : k + 1]
    return [vocab[i] for i in best]


hits = 0
for words in GROUPS.values():
    for word in words:
        hits += sum(w in words for w in nearest(word))
print("neighbours of the same group:", hits, "of", 3 * 24)
for word in ("cat", "red", "two", "soup"):
    print(word, "->", nearest(word))
