"""Momentum contrast: two views, a slow copy of the encoder, a queue of negatives, and a linear probe."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def augment(x):
    shift = torch.randint(-1, 2, (1,)).item()
    return torch.roll(x, shift, dims=-1) + 0.1 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(2, 16, 3, padding=1), nn.BatchNorm1d(16), nn.ReLU(), nn.Conv1d(16, 32, 3, stride=2, padding=1), nn.ReLU()
        )
        self.fc = nn.Linear(32, dim)

    def features(self, x):
        return self.conv(x).mean(-1)

    def forward(self, x):
        return F.normalize(self.fc(self.features(x)), dim=1)


class MoCo(nn.Module):
    def __init__(self, dim=16, K=128, m=0.95, T=0.2):
        super().__init__()
        self.K, self.m, self.T = K, m, T
        self.encoder_q = Encoder(dim)
        self.encoder_k = copy.deepcopy(self.encoder_q)
        for p in self.encoder_k.parameters():
            p.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def momentum_update(self):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data = k.data * self.m + q.data * (1.0 - self.m)

    @torch.no_grad()
    def enqueue(self, keys):
        p = int(self.ptr)
        self.queue[:, p : p + len(keys)] = keys.T
        self.ptr[0] = (p + len(keys)) % self.K

    def forward(self, im_q, im_k):
        q = self.encoder_q(im_q)
        with torch.no_grad():
            self.momentum_update()
            k = self.encoder_k(im_k)
        l_pos = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
        l_neg = torch.einsum("nc,ck->nk", q, self.queue.clone().detach())
        logits = torch.cat([l_pos, l_neg], dim=1) / self.T
        labels = torch.zeros(logits.shape[0], dtype=torch.long)
        self.enqueue(k)
        return logits, labels


def signals(n):
    kind = torch.randint(0, 4, (n,))
    t = torch.linspace(0, 6.28, 24)
    wave = torch.sin(t[None] * (kind[:, None] + 1) + 6.28 * torch.rand(n, 1))
    return torch.stack([wave, wave.flip(-1) * 0.5], 1) + 0.1 * torch.randn(n, 2, 24), kind


def main():
    torch.manual_seed(5)
    x, y = signals(640)
    model = MoCo()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.06, momentum=0.9, weight_decay=1e-4)
    model.train()
    for epoch in range(3):
        order = torch.randperm(len(x))
        for i in range(0, len(x), 32):
            batch = x[order[i : i + 32]]
            output, target = model(augment(batch), augment(batch))
            loss = criterion(output, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())

    model.eval()
    with torch.no_grad():
        feats = model.encoder_q.features(x)
    probe = nn.Linear(32, 4)
    opt = torch.optim.Adam(probe.parameters(), lr=0.02)
    for _ in range(40):
        loss = F.cross_entropy(probe(feats[:500]), y[:500])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("probe", (probe(feats[500:]).argmax(1) == y[500:]).float().mean().item())


if __name__ == "__main__":
    main()
