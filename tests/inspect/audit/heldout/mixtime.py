"""A recurrent language model in the way of RWKV: time mixing by a shift, a decaying sum for each channel, channel mixing."""

import badak as torch
from badak import nn


class TimeMix(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.mix_k, self.mix_v, self.mix_r = (nn.Parameter(torch.rand(c)) for _ in range(3))
        self.decay, self.first = nn.Parameter(torch.rand(c)), nn.Parameter(torch.rand(c))
        self.key, self.value, self.receptance, self.output = (nn.Linear(c, c, bias=False) for _ in range(4))

    def forward(self, x):
        before = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
        k = self.key(x * self.mix_k + before * (1 - self.mix_k))
        v = self.value(x * self.mix_v + before * (1 - self.mix_v))
        r = torch.sigmoid(self.receptance(x * self.mix_r + before * (1 - self.mix_r)))
        up = down = torch.zeros_like(x[:, 0])
        out = []
        for t in range(x.size(1)):
            now = torch.exp(self.first + k[:, t])
            out.append((up + now * v[:, t]) / (down + now))
            fade = torch.exp(-torch.exp(self.decay))
            up = fade * up + torch.exp(k[:, t]) * v[:, t]
            down = fade * down + torch.exp(k[:, t])
        return self.output(r * torch.stack(out, dim=1))


class ChannelMix(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.mix = nn.Parameter(torch.rand(c))
        self.key, self.value = nn.Linear(c, 4 * c, bias=False), nn.Linear(4 * c, c, bias=False)

    def forward(self, x):
        before = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
        return self.value(torch.relu(self.key(x * self.mix + before * (1 - self.mix))) ** 2)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln1, self.ln2, self.att, self.ffn = nn.LayerNorm(c), nn.LayerNorm(c), TimeMix(c), ChannelMix(c)

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.ffn(self.ln2(x))


class Receptive(nn.Module):
    def __init__(self, vocab=49, c=24, layers=3):
        super().__init__()
        self.emb, self.ln0 = nn.Embedding(vocab, c), nn.LayerNorm(c)
        self.blocks = nn.ModuleList([Block(c) for _ in range(layers)])
        self.ln_out, self.head = nn.LayerNorm(c), nn.Linear(c, vocab, bias=False)

    def forward(self, idx, targets=None):
        x = self.ln0(self.emb(idx))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln_out(x))
        if targets is None:
            return logits, None
        return logits, nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def build():
    text = torch.randint(49, (4, 13))
    return {"model": Receptive(), "batch": (text[:, :-1].contiguous(), text[:, 1:].contiguous())}
