"""Names in texts: words and letters side by side, two heads in a dict, an attention of additive kind that pools."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class AdditivePooling(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w, self.v = nn.Linear(d, d), nn.Linear(d, 1, bias=False)

    def forward(self, x, hide):
        e = self.v(torch.tanh(self.w(x))).squeeze(-1)
        a = e.masked_fill(hide, -1e4).softmax(dim=-1)
        return (a.unsqueeze(-1) * x).sum(dim=1)


class SelfAttention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, hide):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, self.h, 3 * d // self.h).permute(0, 2, 1, 3).split(d // self.h, dim=-1)
        bias = torch.zeros(b, 1, 1, t).masked_fill(hide[:, None, None], float("-inf"))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.out(y.permute(0, 2, 1, 3).reshape(b, t, d))


class EncoderLayer(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.attn, self.n1, self.n2 = SelfAttention(d, h), nn.LayerNorm(d), nn.LayerNorm(d)
        self.l1, self.l2, self.drop = nn.Linear(d, 64), nn.Linear(64, d), nn.Dropout(0.1)

    def forward(self, x, hide):
        x = self.n1(x + self.drop(self.attn(x, hide)))
        return self.n2(x + self.drop(self.l2(F.silu(self.l1(x)))))


class JointTagger(nn.Module):
    def __init__(self, words=50, letters=28, d=32, tags=5, intents=4):
        super().__init__()
        self.word, self.letter = nn.Embedding(words, d, padding_idx=0), nn.Embedding(letters, 16, padding_idx=0)
        self.mix, self.place = nn.Linear(d + 16, d), nn.Parameter(torch.randn(24, d) * 0.3)
        self.layers = nn.ModuleList([EncoderLayer(d, 4) for _ in range(2)])
        self.pool = AdditivePooling(d)
        self.tag_head, self.intent_head = nn.Linear(d, tags), nn.Linear(d, intents)

    def forward(self, word_ids, letter_ids):
        hide = word_ids == 0
        seen = (letter_ids != 0).float().unsqueeze(-1)
        spelled = (self.letter(letter_ids) * seen).sum(2) / seen.sum(2).clamp(min=1)
        x = self.mix(torch.cat([self.word(word_ids), spelled], dim=-1)) + self.place[: word_ids.shape[1]]
        for layer in self.layers:
            x = layer(x, hide)
        return {"tags": self.tag_head(x), "intent": self.intent_head(self.pool(x, hide))}


def build():
    words, letters = torch.randint(1, 50, (4, 11)), torch.randint(1, 28, (4, 11, 6))
    letters[:, :, 4:] = 0
    words[1, 8:], words[3, 5:], letters[1, 8:], letters[3, 5:] = 0, 0, 0, 0
    return {"model": JointTagger(), "batch": {"word_ids": words, "letter_ids": letters}}
