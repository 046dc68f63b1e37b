"""Captions of pictures: convolutions, then a decoder that reads the picture next to its words."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class ImageEncoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(16, d, 3, stride=2, padding=1), nn.ReLU()
        )
        self.row = nn.Parameter(torch.randn(1, 36, d) * 0.1)

    def forward(self, images):
        feats = self.cnn(images)
        feats = feats.flatten(2).permute(0, 2, 1)
        return feats + self.row


class CaptionDecoder(nn.Module):
    def __init__(self, vocab, d, heads, layers):
        super().__init__()
        self.embed, self.pos = nn.Embedding(vocab, d, padding_idx=0), nn.Embedding(30, d)
        layer = nn.TransformerDecoderLayer(d, heads, 64, dropout=0.1, batch_first=True, norm_first=True)
        self.decoder = nn.TransformerDecoder(layer, layers, norm=nn.LayerNorm(d))
        self.vocab_proj = nn.Linear(d, vocab)

    def forward(self, captions, memory):
        t = captions.shape[1]
        x = self.embed(captions) + self.pos(torch.arange(t))
        causal = nn.Transformer.generate_square_subsequent_mask(t)
        y = self.decoder(x, memory, tgt_mask=causal, tgt_key_padding_mask=captions == 0)
        return self.vocab_proj(y)


class Captioner(nn.Module):
    def __init__(self, vocab=33, d=32):
        super().__init__()
        self.encoder, self.decoder = ImageEncoder(d), CaptionDecoder(vocab, d, 4, 2)
        for p in self.decoder.decoder.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def forward(self, images, captions):
        memory = self.encoder(images)
        logits = self.decoder(captions[:, :-1], memory)
        loss = F.cross_entropy(logits.transpose(1, 2), captions[:, 1:], ignore_index=0)
        return logits, loss


def build():
    captions = torch.randint(1, 33, (4, 11))
    captions[1, 8:], captions[2, 6:] = 0, 0
    return {"model": Captioner(), "batch": (torch.randn(4, 3, 24, 24), captions)}
