"""German to English with nn.Transformer, as in many a tutorial: masks made in the forward, sines for positions, greedy decoding."""

import math

import badak as torch
from badak import nn

PAD_IDX, BOS_IDX, EOS_IDX = 1, 2, 3


class PositionalEncoding(nn.Module):
    def __init__(self, emb_size, dropout, maxlen=100):
        super(PositionalEncoding, self).__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pos_embedding = torch.zeros((maxlen, emb_size))
        pos_embedding[:, 0::2] = torch.sin(pos * den)
        pos_embedding[:, 1::2] = torch.cos(pos * den)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pos_embedding", pos_embedding.unsqueeze(0))

    def forward(self, token_embedding):
        return self.dropout(token_embedding + self.pos_embedding[:, : token_embedding.size(1), :])


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, emb_size):
        super(TokenEmbedding, self).__init__()
        self.embedding = nn.Embedding(vocab_size, emb_size)
        self.emb_size = emb_size

    def forward(self, tokens):
        return self.embedding(tokens.long()) * math.sqrt(self.emb_size)


class Seq2SeqTransformer(nn.Module):
    def __init__(
        self,
        num_encoder_layers=2,
        num_decoder_layers=2,
        emb_size=32,
        nhead=4,
        src_vocab_size=70,
        tgt_vocab_size=60,
        dim_feedforward=64,
        dropout=0.1,
    ):
        super(Seq2SeqTransformer, self).__init__()
        self.transformer = nn.Transformer(
            d_model=emb_size,
            nhead=nhead,
            num_encoder_layers=num_encoder_layers,
            num_decoder_layers=num_decoder_layers,
            dim_feedforward=dim_feedforward,
            dropout=dropout,
            batch_first=True,
        )
        self.generator = nn.Linear(emb_size, tgt_vocab_size)
        self.src_tok_emb = TokenEmbedding(src_vocab_size, emb_size)
        self.tgt_tok_emb = TokenEmbedding(tgt_vocab_size, emb_size)
        self.positional_encoding = PositionalEncoding(emb_size, dropout=dropout)

    def create_mask(self, src, tgt):
        tgt_seq_len = tgt.shape[1]
        tgt_mask = torch.triu(torch.ones(tgt_seq_len, tgt_seq_len, dtype=torch.bool), diagonal=1)
        src_padding_mask = src == PAD_IDX
        tgt_padding_mask = tgt == PAD_IDX
        return tgt_mask, src_padding_mask, tgt_padding_mask

    def forward(self, src, trg):
        tgt_mask, src_padding_mask, tgt_padding_mask = self.create_mask(src, trg)
        src_emb = self.positional_encoding(self.src_tok_emb(src))
        tgt_emb = self.positional_encoding(self.tgt_tok_emb(trg))
        outs = self.transformer(
            src_emb,
            tgt_emb,
            tgt_mask=tgt_mask,
            src_key_padding_mask=src_padding_mask,
            tgt_key_padding_mask=tgt_padding_mask,
            memory_key_padding_mask=src_padding_mask,
        )
        return self.generator(outs)

    def encode(self, src):
        return self.transformer.encoder(self.positional_encoding(self.src_tok_emb(src)))

    def decode(self, tgt, memory):
        mask = torch.triu(torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool), diagonal=1)
        return self.transformer.decoder(self.positional_encoding(self.tgt_tok_emb(tgt)), memory, tgt_mask=mask)


def sentences(lengths, vocab, width):
    out = torch.full((len(lengths), width), PAD_IDX)
    for row, n in enumerate(lengths):
        out[row, 0] = BOS_IDX
        out[row, 1 : n - 1] = torch.randint(4, vocab, (n - 2,))
        out[row, n - 1] = EOS_IDX
    return out


def build():
    transformer = Seq2SeqTransformer()
    for p in transformer.parameters():
        if p.dim() > 1:
            nn.init.xavier_uniform_(p)
    loss_fn = nn.CrossEntropyLoss(ignore_index=PAD_IDX)
    optimizer = torch.optim.Adam(transformer.parameters(), lr=0.0001, betas=(0.9, 0.98), eps=1e-9)
    src = sentences([11, 8, 9, 6], 70, 11)
    tgt = sentences([12, 10, 7, 9], 60, 12)
    tgt_input = tgt[:, :-1]
    tgt_out = tgt[:, 1:]
    return {
        "model": transformer,
        "batch": (src, tgt_input),
        "loss": lambda logits: loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1)),
        "optimizer": optimizer,
    }
