"""Objects in pictures by slot attention: slots compete for places, a GRU moves them, a decoder paints each."""

import badak as torch
from badak import nn


class Places(nn.Module):
    def __init__(self, width, side):
        super().__init__()
        ys, xs = torch.meshgrid(torch.linspace(0, 1, side), torch.linspace(0, 1, side), indexing="ij")
        self.register_buffer("grid", torch.stack([ys, xs, 1 - ys, 1 - xs], dim=-1))
        self.dense = nn.Linear(4, width)

    def forward(self, x):  # (B, H, W, C)
        return x + self.dense(self.grid)


class SlotAttention(nn.Module):
    def __init__(self, width, count, rounds=3):
        super().__init__()
        self.rounds, self.scale = rounds, width**-0.5
        self.start = nn.Parameter(torch.randn(1, count, width) * 0.5)
        self.norm_in, self.norm_slots, self.norm_mlp = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.gru = nn.GRUCell(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x):
        b, _, c = x.shape
        x = self.norm_in(x)
        k, v = self.k(x), self.v(x)
        slots = self.start.expand(b, -1, -1)
        for _ in range(self.rounds):
            before = slots
            q = self.q(self.norm_slots(slots))
            attn = (torch.einsum("bkc,bnc->bkn", q, k) * self.scale).softmax(dim=1) + 1e-6
            attn = attn / attn.sum(dim=2, keepdim=True)
            updates = torch.einsum("bkn,bnc->bkc", attn, v)
            slots = self.gru(updates.reshape(-1, c), before.reshape(-1, c)).view(b, -1, c)
            slots = slots + self.mlp(self.norm_mlp(slots))
        return slots


class SlotAutoencoder(nn.Module):
    def __init__(self, width=24, count=4, side=8):
        super().__init__()
        self.side = side
        self.encoder = nn.Sequential(
            nn.Conv2d(3, width, 5, padding=2), nn.ReLU(), nn.Conv2d(width, width, 5, stride=2, padding=2), nn.ReLU()
        )
        self.encoder_pos, self.decoder_pos = Places(width, side), Places(width, side)
        self.feed = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.slot_attention = SlotAttention(width, count)
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(width, width, 4, stride=2, padding=1), nn.ReLU(), nn.Conv2d(width, 4, 3, padding=1)
        )

    def forward(self, image):
        b = image.shape[0]
        x = self.encoder(image).permute(0, 2, 3, 1)
        x = self.feed(self.encoder_pos(x).flatten(1, 2))
        slots = self.slot_attention(x)
        k = slots.shape[1]
        grid = slots.reshape(b * k, 1, 1, -1).expand(-1, self.side, self.side, -1)
        painted = self.decoder(self.decoder_pos(grid).permute(0, 3, 1, 2)).view(b, k, 4, 2 * self.side, 2 * self.side)
        colours, masks = painted[:, :, :3], painted[:, :, 3:].softmax(dim=1)
        return {"image": (colours * masks).sum(dim=1), "masks": masks}


def build():
    return {"model": SlotAutoencoder(), "batch": torch.randn(4, 3, 16, 16)}
