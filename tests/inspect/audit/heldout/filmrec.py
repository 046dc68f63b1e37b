"""What film next?  Self-attention over what someone has seen, padded in front; the item's vector answers, one positive and one negative each (BPR)."""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class PointWiseFeedForward(nn.Module):
    def __init__(self, hidden_units, dropout_rate):
        super(PointWiseFeedForward, self).__init__()
        self.fc1 = nn.Linear(hidden_units, hidden_units * 2)
        self.fc2 = nn.Linear(hidden_units * 2, hidden_units)
        self.dropout = nn.Dropout(dropout_rate)

    def forward(self, x):
        return self.dropout(self.fc2(F.relu(self.fc1(x))))


class FilmRec(nn.Module):
    def __init__(self, item_num=120, hidden_units=32, maxlen=12, num_blocks=2, num_heads=2, dropout_rate=0.2):
        super(FilmRec, self).__init__()
        self.item_num = item_num
        self.item_emb = nn.Embedding(item_num + 1, hidden_units, padding_idx=0)
        self.pos_emb = nn.Embedding(maxlen, hidden_units)
        self.emb_dropout = nn.Dropout(dropout_rate)
        self.attention_layernorms = nn.ModuleList()
        self.attention_layers = nn.ModuleList()
        self.forward_layernorms = nn.ModuleList()
        self.forward_layers = nn.ModuleList()
        self.last_layernorm = nn.LayerNorm(hidden_units)
        for _ in range(num_blocks):
            self.attention_layernorms.append(nn.LayerNorm(hidden_units))
            self.attention_layers.append(nn.MultiheadAttention(hidden_units, num_heads, dropout_rate, batch_first=True))
            self.forward_layernorms.append(nn.LayerNorm(hidden_units))
            self.forward_layers.append(PointWiseFeedForward(hidden_units, dropout_rate))

    def log2feats(self, log_seqs):
        seqs = self.item_emb(log_seqs) * self.item_emb.embedding_dim**0.5
        positions = torch.arange(log_seqs.shape[1])
        seqs = self.emb_dropout(seqs + self.pos_emb(positions))
        seen = (log_seqs != 0).unsqueeze(-1)
        seqs = seqs * seen

        tl = seqs.shape[1]
        attention_mask = ~torch.tril(torch.ones((tl, tl), dtype=torch.bool))
        for i in range(len(self.attention_layers)):
            Q = self.attention_layernorms[i](seqs)
            mha_outputs, _ = self.attention_layers[i](Q, Q, Q, attn_mask=attention_mask)
            seqs = seqs + mha_outputs
            seqs = seqs + self.forward_layers[i](self.forward_layernorms[i](seqs))
            seqs = seqs * seen
        return self.last_layernorm(seqs)

    def forward(self, log_seqs, pos_seqs, neg_seqs):
        log_feats = self.log2feats(log_seqs)
        pos_logits = (log_feats * self.item_emb(pos_seqs)).sum(dim=-1)
        neg_logits = (log_feats * self.item_emb(neg_seqs)).sum(dim=-1)
        return pos_logits, neg_logits


def build():
    seen = torch.randint(1, 121, (5, 13))
    for row, n in enumerate((0, 3, 6, 1, 4)):
        seen[row, :n] = 0
    log_seqs, pos_seqs = seen[:, :-1], seen[:, 1:]
    neg_seqs = torch.randint(1, 121, (5, 12)) * (pos_seqs != 0)
    there = log_seqs != 0
    model = FilmRec()

    def bpr(out):
        pos, neg = out
        return -F.logsigmoid((pos - neg)[there]).mean()

    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    return {"model": model, "batch": (log_seqs, pos_seqs, neg_seqs), "loss": bpr, "optimizer": optimizer}
