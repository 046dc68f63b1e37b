"""A masked autoencoder on small pictures: half of the patches are hidden, and the loss is of their pixels."""

import torch
import torch.nn as nn

torch.manual_seed(23)
PATCH, SIDE, D, KEEP = 4, 4, 32, 8


def pictures(n):
    y, x = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    a, b, p = torch.rand(3, n, 1, 1)
    return torch.sin((a * x + b * y) * 0.9 + 6 * p).unsqueeze(1)


def patchify(images):
    n = images.shape[0]
    x = images.reshape(n, 1, SIDE, PATCH, SIDE, PATCH)
    return torch.einsum("nchpwq->nhwpqc", x).reshape(n, SIDE * SIDE, PATCH * PATCH)


class MaskedAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.pos = nn.Linear(PATCH * PATCH, D), nn.Parameter(0.02 * torch.randn(1, SIDE * SIDE, D))
        layer = nn.TransformerEncoderLayer(D, 4, 64, 0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.mask_token, self.decoder_pos = nn.Parameter(torch.zeros(1, 1, D)), nn.Parameter(0.02 * torch.randn(1, SIDE * SIDE, D))
        small = nn.TransformerEncoderLayer(D, 4, 64, 0.0, batch_first=True, norm_first=True)
        self.decoder, self.pred = nn.TransformerEncoder(small, 1, enable_nested_tensor=False), nn.Linear(D, PATCH * PATCH)

    def forward(self, images):
        patches = patchify(images)
        n, length, _ = patches.shape
        x = self.embed(patches) + self.pos
        shuffle = torch.rand(n, length).argsort(dim=1)
        restore = shuffle.argsort(dim=1)
        kept = shuffle[:, :KEEP]
        x = x.gather(1, kept.unsqueeze(-1).expand(-1, -1, D))
        x = self.encoder(x)
        full = torch.cat([x, self.mask_token.expand(n, length - KEEP, -1)], dim=1)
        full = full.gather(1, restore.unsqueeze(-1).expand(-1, -1, D)) + self.decoder_pos
        pred = self.pred(self.decoder(full))
        hidden = torch.ones(n, length)
        hidden[:, :KEEP] = 0
        hidden = hidden.gather(1, restore)
        loss = (pred - patches).pow(2).mean(dim=-1)
        return (loss * hidden).sum() / hidden.sum(), pred, hidden


mae = MaskedAutoencoder()
optimizer = torch.optim.AdamW(mae.parameters(), lr=1.5e-3, betas=(0.9, 0.95), weight_decay=0.05)
for step in range(50):
    images = pictures(32)
    loss, _, _ = mae(images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        mae.eval()
        with torch.no_grad():
            held, _, _ = mae(pictures(64))
        mae.train()
        print(step, loss.item(), held.item())
