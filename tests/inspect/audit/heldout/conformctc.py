"""Speech to letters, time first: half a feed-forward part on either side of attention and convolution, distances that are learned,
lengths behind a stride of two."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class FeedForwardModule(nn.Module):
    def __init__(self, dim, mult=2, p=0.1):
        super().__init__()
        self.norm, self.w_1, self.w_2 = nn.LayerNorm(dim), nn.Linear(dim, mult * dim), nn.Linear(mult * dim, dim)
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        return self.dropout(self.w_2(self.dropout(F.silu(self.w_1(self.norm(x))))))


class RelPosAttention(nn.Module):
    def __init__(self, dim, heads, reach=40, p=0.1):
        super().__init__()
        self.h, self.d_k, self.reach = heads, dim // heads, reach
        self.norm = nn.LayerNorm(dim)
        self.linear_q, self.linear_k, self.linear_v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.linear_out = nn.Linear(dim, dim)
        self.distance = nn.Embedding(2 * reach + 1, self.d_k)
        self.dropout = nn.Dropout(p)

    def forward(self, x, pad_mask):
        x = self.norm(x)
        T, B, _ = x.size()
        q = self.linear_q(x).view(T, B, self.h, self.d_k).permute(1, 2, 0, 3)
        k = self.linear_k(x).view(T, B, self.h, self.d_k).permute(1, 2, 0, 3)
        v = self.linear_v(x).view(T, B, self.h, self.d_k).permute(1, 2, 0, 3)
        at = torch.arange(T)
        relative = (at[None, :] - at[:, None]).clamp(-self.reach, self.reach) + self.reach
        by_content = torch.matmul(q, k.transpose(-2, -1))
        by_distance = torch.einsum("bhtd,tsd->bhts", q, self.distance(relative))
        scores = (by_content + by_distance) / self.d_k**0.5
        scores = scores.masked_fill(pad_mask[:, None, None, :], -1e9)
        attn = self.dropout(scores.softmax(dim=-1))
        out = torch.matmul(attn, v).permute(2, 0, 1, 3).reshape(T, B, -1)
        return self.dropout(self.linear_out(out))


class ConvolutionModule(nn.Module):
    def __init__(self, dim, kernel=5, p=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.pointwise_conv1 = nn.Conv1d(dim, 2 * dim, 1)
        self.depthwise_conv = nn.Conv1d(dim, dim, kernel, padding=kernel // 2, groups=dim)
        self.group_norm = nn.LayerNorm(dim)
        self.pointwise_conv2 = nn.Conv1d(dim, dim, 1)
        self.dropout = nn.Dropout(p)

    def forward(self, x, pad_mask):
        x = self.norm(x).permute(1, 2, 0)
        x = F.glu(self.pointwise_conv1(x), dim=1)
        x = x.masked_fill(pad_mask[:, None, :], 0.0)
        x = self.depthwise_conv(x)
        x = F.silu(self.group_norm(x.transpose(1, 2))).transpose(1, 2)
        return self.dropout(self.pointwise_conv2(x).permute(2, 0, 1))


class ConformerLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ff_macaron, self.feed_forward = FeedForwardModule(dim), FeedForwardModule(dim)
        self.self_attn, self.conv_module = RelPosAttention(dim, heads), ConvolutionModule(dim)
        self.norm_final = nn.LayerNorm(dim)

    def forward(self, x, pad_mask):
        x = x + 0.5 * self.ff_macaron(x)
        x = x + self.self_attn(x, pad_mask)
        x = x + self.conv_module(x, pad_mask)
        x = x + 0.5 * self.feed_forward(x)
        return self.norm_final(x)


class SpeechToLetters(nn.Module):
    def __init__(self, n_mels=20, dim=32, heads=4, depth=2, letters=29):
        super().__init__()
        self.subsample = nn.Conv1d(n_mels, dim, kernel_size=3, stride=2, padding=1)
        self.input_proj = nn.Linear(dim, dim)
        self.layers = nn.ModuleList(ConformerLayer(dim, heads) for _ in range(depth))
        self.ctc_head = nn.Linear(dim, letters)

    def forward(self, mels, lengths):
        """mels (T, B, n_mels), lengths (B,) -> log-probabilities (T / 2, B, letters), lengths"""
        T = mels.shape[0]
        frames_pad = torch.arange(T)[:, None] >= lengths[None, :]
        mels = mels.masked_fill(frames_pad[..., None], 0.0)
        x = F.relu(self.subsample(mels.permute(1, 2, 0))).permute(2, 0, 1)
        x = self.input_proj(x)
        out_lengths = (lengths + 1) // 2
        pad_mask = torch.arange(x.shape[0])[None, :] >= out_lengths[:, None]
        for layer in self.layers:
            x = layer(x, pad_mask)
        return self.ctc_head(x).log_softmax(dim=-1), out_lengths


def build():
    return {"model": SpeechToLetters(), "batch": {"mels": torch.randn(28, 4, 20), "lengths": torch.tensor([28, 21, 24, 16])}}
