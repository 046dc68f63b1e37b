"""Matching sketches to photos: the hardest wrong photos are looked up each epoch with the net as it is, margins that grow."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(14)
torch.manual_seed(14)
things = rng.standard_normal((260, 5))
A, B = rng.standard_normal((5, 20)), rng.standard_normal((5, 30))
photos = torch.tensor(np.tanh(things @ A) + 0.1 * rng.standard_normal((260, 20))).float()
sketches = torch.tensor(np.maximum(things @ B, 0) * 0.6 + 0.1 * rng.standard_normal((260, 30))).float()
learn, keep = torch.arange(200), torch.arange(200, 260)


def tower(width):
    return nn.Sequential(nn.Linear(width, 48), nn.LayerNorm(48), nn.GELU(), nn.Dropout(0.05), nn.Linear(48, 12))


of_photo, of_sketch = tower(20), tower(30)
params = [*of_photo.parameters(), *of_sketch.parameters()]
optimizer = torch.optim.Adam(params, lr=3e-3)


@torch.no_grad()
def hardest(k=3):
    of_photo.eval(), of_sketch.eval()
    near = F.normalize(of_sketch(sketches[learn]), dim=1) @ F.normalize(of_photo(photos[learn]), dim=1).T
    near.fill_diagonal_(-2)
    of_photo.train(), of_sketch.train()
    return near.topk(k, dim=1).indices


for epoch in range(8):
    wrong = hardest()
    margin = 0.1 + 0.02 * epoch
    for rows in torch.randperm(200).split(25):
        anchor = F.normalize(of_sketch(sketches[learn][rows]), dim=1)
        right = F.normalize(of_photo(photos[learn][rows]), dim=1)
        other = wrong[rows, torch.randint(0, wrong.shape[1], (len(rows),))]
        bad = F.normalize(of_photo(photos[learn][other]), dim=1)
        loss = F.relu(margin - (anchor * right).sum(1) + (anchor * bad).sum(1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    of_photo.eval(), of_sketch.eval()
    with torch.no_grad():
        near = F.normalize(of_sketch(sketches[keep]), dim=1) @ F.normalize(of_photo(photos[keep]), dim=1).T
        rank = (near.argsort(dim=1, descending=True) == torch.arange(60)[:, None]).float().argmax(1)
    of_photo.train(), of_sketch.train()
    print(epoch, loss.item(), "median rank", rank.median().item())
