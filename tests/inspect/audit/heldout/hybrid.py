"""A tagger of words: a CNN over letters beside a BiLSTM, attention on top, one tag for each word; padding by lengths."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class CharCNN(nn.Module):
    def __init__(self, chars, dim, out):
        super().__init__()
        self.emb, self.conv = nn.Embedding(chars, dim, padding_idx=0), nn.Conv1d(dim, out, 3, padding=1)

    def forward(self, c):
        b, t, n = c.shape
        x = self.emb(c.reshape(b * t, n)).transpose(1, 2)
        return F.relu(self.conv(x)).amax(dim=-1).reshape(b, t, -1)


class AttentionLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.in_proj, self.out = heads, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, pad):
        b, t, d = x.shape
        q, k, v = self.in_proj(x).view(b, t, 3, self.heads, d // self.heads).unbind(2)
        s = torch.einsum("bthd,bshd->bhts", q, k) / (d // self.heads) ** 0.5
        s = s.masked_fill(pad[:, None, None], -1e9)
        y = torch.einsum("bhts,bshd->bthd", s.softmax(-1), v)
        return self.out(y.reshape(b, t, d))


class HybridTagger(nn.Module):
    def __init__(self, words=48, chars=20, tags=9, dim=24, hid=16):
        super().__init__()
        self.word, self.char = nn.Embedding(words, dim, padding_idx=0), CharCNN(chars, 8, 8)
        self.fwd, self.bwd = nn.LSTM(dim + 8, hid, batch_first=True), nn.LSTM(dim + 8, hid, batch_first=True)
        self.attention, self.norm = AttentionLayer(2 * hid, 4), nn.LayerNorm(2 * hid)
        self.drop, self.tag = nn.Dropout(0.2), nn.Linear(2 * hid, tags)

    def forward(self, words, letters):
        pad = words == 0
        x = self.drop(torch.cat([self.word(words), self.char(letters)], dim=-1))
        n = (~pad).sum(1, keepdim=True)
        place = torch.arange(words.shape[1])[None]
        turn = torch.where(place < n, n - 1 - place, place).unsqueeze(-1).expand_as(x)
        forward, _ = self.fwd(x)
        backward, _ = self.bwd(x.gather(1, turn))
        backward = backward.gather(1, turn[..., :1].expand_as(backward))
        h = torch.cat([forward, backward], dim=-1)
        h = self.norm(h + self.attention(h, pad))
        return self.tag(h)


def build():
    words, letters = torch.randint(1, 48, (4, 10)), torch.randint(1, 20, (4, 10, 6))
    words[1, 7:], words[3, 5:] = 0, 0
    letters[1, 7:], letters[3, 5:] = 0, 0
    return {"model": HybridTagger(), "batch": (words, letters)}
