"""Image captioning: a small CNN looks, an nn.TransformerDecoder writes. (course project, CS)"""

import math

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class CNNEncoder(nn.Module):
    """32x32 picture -> 16 feature vectors"""

    def __init__(self, d_model):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(32, d_model, 3, stride=2, padding=1),
        )

    def forward(self, images):
        f = self.cnn(images)
        b, c, h, w = f.size()
        return f.view(b, c, h * w).permute(0, 2, 1)


class SinusoidalPE(nn.Module):
    def __init__(self, d_model, max_len=64):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div)
        pe[0, :, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class CaptionModel(nn.Module):
    def __init__(self, vocab_size=90, d_model=32, nhead=4, num_layers=2, pad_idx=0):
        super().__init__()
        self.pad_idx = pad_idx
        self.d_model = d_model
        self.encoder = CNNEncoder(d_model)
        self.img_pos = nn.Parameter(torch.randn(1, 16, d_model) * 0.02)
        self.word_embed = nn.Embedding(vocab_size, d_model, padding_idx=pad_idx)
        self.word_pos = SinusoidalPE(d_model)
        self.drop = nn.Dropout(0.1)
        decoder_layer = nn.TransformerDecoderLayer(d_model, nhead, dim_feedforward=64, dropout=0.1, batch_first=True)
        self.decoder = nn.TransformerDecoder(decoder_layer, num_layers)
        self.fc_out = nn.Linear(d_model, vocab_size)
        self._reset_parameters()

    def _reset_parameters(self):
        for p in self.decoder.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def forward(self, images, captions):
        memory = self.encoder(images) + self.img_pos
        T = captions.size(1)
        causal_mask = nn.Transformer.generate_square_subsequent_mask(T)
        pad_mask = torch.zeros(captions.shape).masked_fill(captions == self.pad_idx, float("-inf"))
        x = self.word_embed(captions) * math.sqrt(self.d_model)
        x = self.drop(self.word_pos(x))
        h = self.decoder(x, memory, tgt_mask=causal_mask, tgt_key_padding_mask=pad_mask)
        return self.fc_out(h)


def build():
    model = CaptionModel()
    images = torch.randn(4, 3, 32, 32)
    captions = torch.randint(3, 90, (4, 12))
    captions[:, 0] = 1
    for i, n in enumerate((12, 9, 7, 10)):
        captions[i, n - 1] = 2
        captions[i, n:] = 0
    inp, target = captions[:, :-1], captions[:, 1:]

    def loss(logits):
        return F.cross_entropy(logits.reshape(-1, 90), target.reshape(-1), ignore_index=0)

    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    return {"model": model, "batch": {"images": images, "captions": inp}, "loss": loss, "optimizer": optimizer}
