"""The transformer from scratch of a video: values, keys and queries per head, einsum with written letters, masks by == 0."""

import badak as torch
from badak import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.embed_size, self.heads, self.head_dim = embed_size, heads, embed_size // heads
        self.values, self.keys, self.queries = (nn.Linear(embed_size, embed_size, bias=False) for _ in range(3))
        self.fc_out = nn.Linear(embed_size, embed_size)

    def forward(self, values, keys, query, mask):
        N = query.shape[0]
        value_len, key_len, query_len = values.shape[1], keys.shape[1], query.shape[1]
        values = self.values(values).reshape(N, value_len, self.heads, self.head_dim)
        keys = self.keys(keys).reshape(N, key_len, self.heads, self.head_dim)
        queries = self.queries(query).reshape(N, query_len, self.heads, self.head_dim)
        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys])
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-1e20"))
        attention = torch.softmax(energy / (self.head_dim ** (1 / 2)), dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", [attention, values]).reshape(N, query_len, self.heads * self.head_dim)
        return self.fc_out(out)


class TransformerBlock(nn.Module):
    def __init__(self, embed_size, heads, dropout, expansion):
        super().__init__()
        self.attention = SelfAttention(embed_size, heads)
        self.norm1, self.norm2 = nn.LayerNorm(embed_size), nn.LayerNorm(embed_size)
        self.feed_forward = nn.Sequential(
            nn.Linear(embed_size, expansion * embed_size), nn.ReLU(), nn.Linear(expansion * embed_size, embed_size)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, value, key, query, mask):
        attention = self.attention(value, key, query, mask)
        x = self.dropout(self.norm1(attention + query))
        forward = self.feed_forward(x)
        return self.dropout(self.norm2(forward + x))


class Encoder(nn.Module):
    def __init__(self, vocab, embed_size, num_layers, heads, dropout, max_length):
        super().__init__()
        self.word_embedding, self.position_embedding = nn.Embedding(vocab, embed_size), nn.Embedding(max_length, embed_size)
        self.layers = nn.ModuleList([TransformerBlock(embed_size, heads, dropout, 2) for _ in range(num_layers)])
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        N, seq_length = x.shape
        positions = torch.arange(0, seq_length).expand(N, seq_length)
        out = self.dropout(self.word_embedding(x) + self.position_embedding(positions))
        for layer in self.layers:
            out = layer(out, out, out, mask)
        return out


class DecoderBlock(nn.Module):
    def __init__(self, embed_size, heads, dropout):
        super().__init__()
        self.attention, self.norm = SelfAttention(embed_size, heads), nn.LayerNorm(embed_size)
        self.transformer_block, self.dropout = TransformerBlock(embed_size, heads, dropout, 2), nn.Dropout(dropout)

    def forward(self, x, value, key, src_mask, trg_mask):
        attention = self.attention(x, x, x, trg_mask)
        query = self.dropout(self.norm(attention + x))
        return self.transformer_block(value, key, query, src_mask)


class Decoder(nn.Module):
    def __init__(self, vocab, embed_size, num_layers, heads, dropout, max_length):
        super().__init__()
        self.word_embedding, self.position_embedding = nn.Embedding(vocab, embed_size), nn.Embedding(max_length, embed_size)
        self.layers = nn.ModuleList([DecoderBlock(embed_size, heads, dropout) for _ in range(num_layers)])
        self.fc_out, self.dropout = nn.Linear(embed_size, vocab), nn.Dropout(dropout)

    def forward(self, x, enc_out, src_mask, trg_mask):
        N, seq_length = x.shape
        positions = torch.arange(0, seq_length).expand(N, seq_length)
        x = self.dropout(self.word_embedding(x) + self.position_embedding(positions))
        for layer in self.layers:
            x = layer(x, enc_out, enc_out, src_mask, trg_mask)
        return self.fc_out(x)


class Transformer(nn.Module):
    def __init__(self, src_vocab=30, trg_vocab=34, src_pad_idx=0, trg_pad_idx=0, embed_size=32, layers=2, heads=4, dropout=0.1):
        super().__init__()
        self.encoder = Encoder(src_vocab, embed_size, layers, heads, dropout, 40)
        self.decoder = Decoder(trg_vocab, embed_size, layers, heads, dropout, 40)
        self.src_pad_idx, self.trg_pad_idx = src_pad_idx, trg_pad_idx

    def make_src_mask(self, src):
        return (src != self.src_pad_idx).unsqueeze(1).unsqueeze(2)

    def make_trg_mask(self, trg):
        N, trg_len = trg.shape
        return torch.tril(torch.ones((trg_len, trg_len))).expand(N, 1, trg_len, trg_len)

    def forward(self, src, trg):
        src_mask, trg_mask = self.make_src_mask(src), self.make_trg_mask(trg)
        enc_src = self.encoder(src, src_mask)
        return self.decoder(trg, enc_src, src_mask, trg_mask)


def build():
    src, trg = torch.randint(1, 30, (4, 11)), torch.randint(1, 34, (4, 9))
    src[0, 8:], src[2, 5:] = 0, 0
    return {"model": Transformer(), "batch": (src, trg[:, :-1])}
