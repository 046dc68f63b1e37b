"""Summaries: nn.Transformer of PyTorch, sequences first, its own positions; teacher forcing by the caller."""

import math

import badak as torch
from badak import nn


class Positional(nn.Module):
    def __init__(self, emb_size, dropout, maxlen=60):
        super().__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        table = torch.zeros((maxlen, emb_size))
        table[:, 0::2] = torch.sin(pos * den)
        table[:, 1::2] = torch.cos(pos * den)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pos_embedding", table.unsqueeze(-2))

    def forward(self, token_embedding):
        return self.dropout(token_embedding + self.pos_embedding[: token_embedding.size(0), :])


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, emb_size):
        super().__init__()
        self.embedding, self.emb_size = nn.Embedding(vocab_size, emb_size), emb_size

    def forward(self, tokens):
        return self.embedding(tokens.long()) * math.sqrt(self.emb_size)


class Seq2SeqTransformer(nn.Module):
    def __init__(self, layers=2, emb_size=32, nhead=4, src_vocab=40, tgt_vocab=31):
        super().__init__()
        self.transformer = nn.Transformer(emb_size, nhead, layers, layers, 64, dropout=0.1)
        self.generator = nn.Linear(emb_size, tgt_vocab)
        self.src_tok_emb, self.tgt_tok_emb = TokenEmbedding(src_vocab, emb_size), TokenEmbedding(tgt_vocab, emb_size)
        self.positional_encoding = Positional(emb_size, dropout=0.1)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def forward(self, src, trg, src_mask, tgt_mask, src_padding_mask, tgt_padding_mask, memory_key_padding_mask):
        src_emb = self.positional_encoding(self.src_tok_emb(src))
        tgt_emb = self.positional_encoding(self.tgt_tok_emb(trg))
        outs = self.transformer(
            src_emb, tgt_emb, src_mask, tgt_mask, None, src_padding_mask, tgt_padding_mask, memory_key_padding_mask
        )
        return self.generator(outs)


def create_mask(src, tgt):
    s, t = src.shape[0], tgt.shape[0]
    tgt_mask = torch.triu(torch.ones(t, t), diagonal=1).bool()
    src_mask = torch.zeros((s, s)).bool()
    return src_mask, tgt_mask, (src == 1).transpose(0, 1), (tgt == 1).transpose(0, 1)


def build():
    src, tgt = torch.randint(4, 40, (13, 4)), torch.randint(4, 31, (10, 4))
    src[9:, 1], src[11:, 3], tgt[7:, 2] = 1, 1, 1
    src_mask, tgt_mask, src_pad, tgt_pad = create_mask(src, tgt)
    return {"model": Seq2SeqTransformer(), "batch": (src, tgt, src_mask, tgt_mask, src_pad, tgt_pad, src_pad)}
