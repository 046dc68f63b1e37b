"""A text that is given back by what it was made into: the code sees all of it, and the loss asks for the next word."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1)
torch.manual_seed(1)
PAD, SOS, EOS = 0, 1, 2
words = ["<pad>", "<sos>", "<eos>"] + "the a dog cat bird sees likes eats big small red fish bone tree and".split()
w2i = {w: i for i, w in enumerate(words)}


def sentence():
    np_ = lambda: (
        [random.choice(["the", "a"])]
        + ([random.choice(["big", "small", "red"])] if random.random() < 0.5 else [])
        + [random.choice(["dog", "cat", "bird", "fish", "bone", "tree"])]
    )
    return np_() + [random.choice(["sees", "likes", "eats"])] + np_()


data = [[w2i[w] for w in sentence()] for _ in range(900)]


def batchify(rows):
    n = max(map(len, rows)) + 1
    inp = torch.tensor([[SOS] + r + [PAD] * (n - 1 - len(r)) for r in rows])
    out = torch.tensor([r + [EOS] + [PAD] * (n - 1 - len(r)) for r in rows])
    return inp, out, torch.tensor([len(r) + 1 for r in rows])


class SentenceVAE(nn.Module):
    def __init__(self, d=32, h=48, z=8):
        super().__init__()
        self.emb = nn.Embedding(len(words), d, padding_idx=PAD)
        self.enc = nn.GRU(d, h, batch_first=True)
        self.mu, self.logvar = nn.Linear(h, z), nn.Linear(h, z)
        self.z2h = nn.Linear(z, h)
        self.dec = nn.GRU(d, h, batch_first=True)
        self.out = nn.Linear(h, len(words))

    def forward(self, inp, lengths, keep=0.7):
        e = self.emb(inp)
        packed = nn.utils.rnn.pack_padded_sequence(e, lengths, batch_first=True, enforce_sorted=False)
        _, h = self.enc(packed)
        mu, logvar = self.mu(h[0]), self.logvar(h[0])
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar) if self.training else mu
        if self.training:  # word dropout
            drop = (torch.rand(inp.shape) > keep) & (inp > EOS)
            e = self.emb(inp.masked_fill(drop, PAD))
        y, _ = self.dec(e, torch.tanh(self.z2h(z)).unsqueeze(0))
        return self.out(y), mu, logvar


def elbo(logits, target, mu, logvar, beta):
    nll = F.cross_entropy(logits.transpose(1, 2), target, ignore_index=PAD, reduction="sum") / len(target)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(dim=1).mean()
    return nll + beta * kl, nll, kl


model = SentenceVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
step = 0
for epoch in range(5):
    model.train()
    random.shuffle(data[:800])
    for i in range(0, 800, 40):
        inp, out, lengths = batchify(data[i : i + 40])
        logits, mu, logvar = model(inp, lengths)
        loss, nll, kl = elbo(logits, out, mu, logvar, min(1.0, step / 60))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    model.eval()
    with torch.no_grad():
        inp, out, lengths = batchify(data[800:])
        logits, mu, logvar = model(inp, lengths)
        _, nll, kl = elbo(logits, out, mu, logvar, 1.0)
    print(epoch, loss.item(), nll.item(), kl.item())


@torch.no_grad()
def generate(z):
    h = torch.tanh(model.z2h(z)).unsqueeze(0)
    x, said = torch.full((len(z), 1), SOS), []
    for _ in range(8):
        y, h = model.dec(model.emb(x), h)
        x = model.out(y[:, -1]).argmax(-1, keepdim=True)
        said.append(x)
    return torch.cat(said, 1)


for row in generate(torch.randn(3, 8)).tolist():
    print(" ".join(words[i] for i in row if i > EOS))
