"""Sentiment of texts: nn.TransformerEncoder, sines as a buffer, a mean over what is no padding."""

import math

import badak as torch
from badak import nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=64):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x = x + self.pe[:, : x.size(1)]
        return self.dropout(x)


class SentimentClassifier(nn.Module):
    def __init__(self, vocab_size=50, d_model=32, nhead=4, num_layers=2, num_classes=2):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=1)
        self.pos_encoder = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers)
        self.classifier = nn.Sequential(nn.Linear(d_model, d_model), nn.Tanh(), nn.Dropout(0.3), nn.Linear(d_model, num_classes))
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def forward(self, text, lengths=None):
        pad = text == 1
        x = self.embedding(text) * math.sqrt(self.d_model)
        x = self.pos_encoder(x)
        x = self.encoder(x, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1).float()
        pooled = (x * keep).sum(1) / keep.sum(1)
        return self.classifier(pooled)


def build():
    model = SentimentClassifier()
    text = torch.randint(2, 50, (6, 15))
    for i in range(6):
        text[i, 15 - i :] = 1
    return {"model": model, "batch": text}
