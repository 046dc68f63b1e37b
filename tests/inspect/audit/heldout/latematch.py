"""Questions and passages by one encoder: every word of a question looks for its nearest word of a passage; the questions are
filled up with masks that are read, the passages leave their punctuation out; learned positions, pre-norm layers of torch, a
loss over the batch."""

import badak as torch
import badak.nn.functional as F
from badak import nn

PAD, MASK, Q_MARK, D_MARK = 0, 1, 2, 3
PUNCTUATION = (4, 5)


class TextEncoder(nn.Module):
    def __init__(self, vocab_size, d_model, nhead, num_layers, max_len):
        super().__init__()
        self.word = nn.Embedding(vocab_size, d_model, padding_idx=PAD)
        self.position = nn.Embedding(max_len, d_model)
        self.drop = nn.Dropout(0.1)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                d_model, nhead, 2 * d_model, dropout=0.1, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, pad):
        steps = torch.arange(ids.size(1)).unsqueeze(0).expand_as(ids)
        x = self.drop(self.word(ids) + self.position(steps))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=pad)
        return self.norm(x)


class LateInteraction(nn.Module):
    def __init__(self, vocab_size=71, d_model=32, nhead=4, num_layers=2, max_len=24, out_dim=16):
        super().__init__()
        self.encoder = TextEncoder(vocab_size, d_model, nhead, num_layers, max_len)
        self.linear = nn.Linear(d_model, out_dim, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(2.0))

    def query(self, ids):
        ids = ids.masked_fill(ids == PAD, MASK)
        hidden = self.encoder(ids, torch.zeros_like(ids, dtype=torch.bool))
        return F.normalize(self.linear(hidden), dim=-1)

    def doc(self, ids):
        pad = ids == PAD
        vectors = F.normalize(self.linear(self.encoder(ids, pad)), dim=-1)
        keep = ~pad
        for mark in PUNCTUATION:
            keep = keep & (ids != mark)
        return vectors, keep

    def score(self, Q, D, keep):
        sims = torch.einsum("qid,pjd->qpij", Q, D)
        sims = sims.masked_fill(~keep[None, :, None, :], -9999.0)
        return sims.max(dim=-1).values.sum(dim=-1)

    def forward(self, query_ids, doc_ids):
        Q = self.query(query_ids)
        D, keep = self.doc(doc_ids)
        scores = self.score(Q, D, keep) * self.logit_scale.exp() / Q.shape[1]
        loss = F.cross_entropy(scores, torch.arange(scores.shape[0]))
        return {"scores": scores, "loss": loss, "query_vectors": Q, "doc_vectors": D}


def build():
    q, d = torch.randint(6, 71, (4, 8)), torch.randint(4, 71, (4, 14))
    q[:, 0], d[:, 0] = Q_MARK, D_MARK
    for row, (a, b) in enumerate(((8, 14), (5, 9), (6, 12), (4, 10))):
        q[row, a:], d[row, b:] = PAD, PAD
    return {"model": LateInteraction(), "batch": {"query_ids": q, "doc_ids": d}}
