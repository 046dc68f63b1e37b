"""
Speech commands, 35 words.
mel spectrogram (B, n_mels, frames) and how long each recording is -> conv front end -> encoder -> mean of what was said
"""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class ConvFrontEnd(nn.Module):
    def __init__(self, n_mels, d_model):
        super().__init__()
        self.conv1 = nn.Conv1d(n_mels, d_model, kernel_size=3, padding=1)
        self.conv2 = nn.Conv1d(d_model, d_model, kernel_size=1)

    def forward(self, mel, mask):
        x = mel.masked_fill(mask.unsqueeze(1), 0.0)
        x = F.gelu(self.conv1(x))
        x = F.gelu(self.conv2(x))
        return x.transpose(1, 2)


class FeedForward(nn.Module):
    def __init__(self, dim, hidden, p):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.SiLU(), nn.Dropout(p), nn.Linear(hidden, dim), nn.Dropout(p))

    def forward(self, x):
        return self.net(x)


class Layer(nn.Module):
    def __init__(self, dim, heads, p):
        super().__init__()
        self.norm_attn = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, dropout=p, batch_first=True)
        self.norm_ff = nn.LayerNorm(dim)
        self.ff = FeedForward(dim, 2 * dim, p)
        self.drop = nn.Dropout(p)

    def forward(self, x, mask):
        y = self.norm_attn(x)
        y, _ = self.attn(y, y, y, key_padding_mask=mask)
        x = x + self.drop(y)
        x = x + self.ff(self.norm_ff(x))
        return x


class KeywordSpotter(nn.Module):
    def __init__(self, n_mels=20, d_model=36, heads=4, layers=2, n_classes=35, max_frames=100, p=0.1):
        super().__init__()
        self.front = ConvFrontEnd(n_mels, d_model)
        self.pos = nn.Parameter(torch.empty(1, max_frames, d_model))
        nn.init.trunc_normal_(self.pos, std=0.02)
        self.layers = nn.ModuleList(Layer(d_model, heads, p) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.classifier = nn.Linear(d_model, n_classes)

    def forward(self, mel, lengths):
        frames = mel.size(-1)
        mask = torch.arange(frames)[None, :] >= lengths[:, None]  # True = silence that was added
        x = self.front(mel, mask)
        x = x + self.pos[:, :frames]
        for layer in self.layers:
            x = layer(x, mask)
        x = self.norm(x)
        x = x.masked_fill(mask.unsqueeze(-1), 0.0)
        pooled = x.sum(dim=1) / lengths.unsqueeze(1)
        return self.classifier(pooled)


def build():
    mel = torch.randn(4, 20, 22)
    lengths = torch.tensor([22, 15, 18, 11])
    words = torch.tensor([3, 17, 30, 8])
    model = KeywordSpotter()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.05)
    return {
        "model": model,
        "batch": {"mel": mel, "lengths": lengths},
        "loss": lambda logits: F.cross_entropy(logits, words, label_smoothing=0.1),
        "optimizer": optimizer,
    }
