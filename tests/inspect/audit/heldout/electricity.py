"""Electricity: what comes next, by nn.Transformer on numbers; the decoder gets the last known value and, in training, the true ones."""

import math

import badak as torch
import badak.nn as nn


class PositionalEncoder(nn.Module):
    def __init__(self, dropout: float = 0.1, max_seq_len: int = 200, d_model: int = 32):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_seq_len).unsqueeze(1)
        exp_input = torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model)
        div_term = torch.exp(exp_input)
        pe = torch.zeros(max_seq_len, d_model)
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return self.dropout(x + self.pe[:, : x.size(1)])


class TimeSeriesTransformer(nn.Module):
    """
    Follows "Deep Transformer Models for Time Series Forecasting: The Influenza Prevalence Case".

    src: (batch, enc_seq_len, input_size), trg: (batch, target_seq_len, 1)
    """

    def __init__(self, input_size=3, dim_val=32, n_heads=4, n_encoder_layers=2, n_decoder_layers=2, dim_ff=64, dropout=0.1):
        super().__init__()
        self.encoder_input_layer = nn.Linear(input_size, dim_val)
        self.decoder_input_layer = nn.Linear(1, dim_val)
        self.linear_mapping = nn.Linear(dim_val, 1)
        self.positional_encoding_layer = PositionalEncoder(dropout, d_model=dim_val)
        self.transformer = nn.Transformer(
            d_model=dim_val,
            nhead=n_heads,
            num_encoder_layers=n_encoder_layers,
            num_decoder_layers=n_decoder_layers,
            dim_feedforward=dim_ff,
            dropout=dropout,
            batch_first=True,
        )

    def forward(self, src, trg):
        src = self.positional_encoding_layer(self.encoder_input_layer(src))
        trg_in = self.positional_encoding_layer(self.decoder_input_layer(trg))
        tgt_mask = self.transformer.generate_square_subsequent_mask(trg.size(1))
        out = self.transformer(src, trg_in, tgt_mask=tgt_mask)
        return self.linear_mapping(out)


def get_src_trg(sequence, enc_seq_len, target_seq_len):
    src = sequence[:, :enc_seq_len]
    trg = sequence[:, enc_seq_len - 1 : -1, :1]
    trg_y = sequence[:, -target_seq_len:, :1]
    return src, trg, trg_y


def build():
    sequence = torch.randn(5, 26, 3).cumsum(1) * 0.3
    src, trg, trg_y = get_src_trg(sequence, 18, 8)
    model = TimeSeriesTransformer()
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    return {"model": model, "batch": {"src": src, "trg": trg}, "loss": lambda out: criterion(out, trg_y), "optimizer": optimizer}
