"""Clean tones out of noisy recordings: a learned encoder, a mask from dilated convolutions, a decoder (as Conv-TasNet), SI-SNR."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=90)
parser.add_argument("--batch", type=int, default=12)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--length", type=int, default=320)
args, _ = parser.parse_known_args()
torch.manual_seed(9)


def recordings(n, generator=None):
    t = torch.arange(args.length) / 160.0
    f = 4 + 20 * torch.rand(n, 3, 1, generator=generator)
    a = 0.3 + torch.rand(n, 3, 1, generator=generator)
    clean = (a * torch.sin(2 * torch.pi * f * t + 6 * torch.rand(n, 3, 1, generator=generator))).sum(dim=1)
    noise = torch.randn(n, args.length, generator=generator)
    noise = noise * 0.8 * clean.std(dim=1, keepdim=True)
    return clean + noise, clean


class Block(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.inner = nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation, groups=width)
        self.first, self.last = nn.Conv1d(width, width, 1), nn.Conv1d(width, width, 1)
        self.norm = nn.GroupNorm(1, width)
        self.prelu = nn.PReLU()

    def forward(self, x):
        return x + self.last(self.norm(self.prelu(self.inner(self.first(x)))))


class TasNet(nn.Module):
    def __init__(self, filters=32, kernel=16):
        super().__init__()
        self.encoder = nn.Conv1d(1, filters, kernel, stride=kernel // 2, bias=False)
        self.norm = nn.GroupNorm(1, filters)
        self.separator = nn.Sequential(*[Block(filters, 2**i) for i in range(4)])
        self.mask = nn.Conv1d(filters, filters, 1)
        self.decoder = nn.ConvTranspose1d(filters, 1, kernel, stride=kernel // 2, bias=False)

    def forward(self, mixture):
        w = F.relu(self.encoder(mixture.unsqueeze(1)))
        m = torch.sigmoid(self.mask(self.separator(self.norm(w))))
        return self.decoder(w * m).squeeze(1)


def si_snr(estimate, clean, eps=1e-8):
    estimate = estimate - estimate.mean(dim=-1, keepdim=True)
    clean = clean - clean.mean(dim=-1, keepdim=True)
    scale = (estimate * clean).sum(dim=-1, keepdim=True) / (clean.pow(2).sum(dim=-1, keepdim=True) + eps)
    target = scale * clean
    noise = estimate - target
    return 10 * torch.log10(target.pow(2).sum(dim=-1) / (noise.pow(2).sum(dim=-1) + eps) + eps)


model = TasNet()
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.2, total_iters=10)
dev_mixture, dev_clean = recordings(32, torch.Generator().manual_seed(77))
best = -1e9
for step in range(args.steps):
    model.train()
    mixture, clean = recordings(args.batch)
    estimate = model(mixture)
    loss = -si_snr(estimate, clean).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    warmup.step()
    if step % 15 == 14:
        model.eval()
        with torch.no_grad():
            gain = (si_snr(model(dev_mixture), dev_clean) - si_snr(dev_mixture, dev_clean)).mean().item()
        best = max(best, gain)
        print(f"step {step + 1}: train {-loss.item():.2f} dB, dev gain {gain:.2f} dB (best {best:.2f})")
