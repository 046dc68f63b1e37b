"""Named entities: a tag for every word, by nn.TransformerEncoder with learned positions; padded sentences, tags of padding are ignored."""

from dataclasses import dataclass
from typing import Optional

import badak as torch
from badak import nn


@dataclass
class Config:
    vocab_size: int = 150
    num_tags: int = 9
    d_model: int = 40
    nhead: int = 4
    num_layers: int = 3
    dim_feedforward: int = 80
    max_len: int = 64
    dropout: float = 0.2
    pad_token_id: int = 0
    ignore_index: int = -100


class NERModel(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.cfg = cfg
        self.tok = nn.Embedding(cfg.vocab_size, cfg.d_model, padding_idx=cfg.pad_token_id)
        self.pos = nn.Embedding(cfg.max_len, cfg.d_model)
        self.emb_norm = nn.LayerNorm(cfg.d_model)
        self.emb_drop = nn.Dropout(cfg.dropout)
        layers = []
        for _ in range(cfg.num_layers):
            layers.append(
                nn.TransformerEncoderLayer(
                    cfg.d_model,
                    cfg.nhead,
                    cfg.dim_feedforward,
                    cfg.dropout,
                    activation="gelu",
                    batch_first=True,
                    norm_first=True,
                )
            )
        self.layers = nn.ModuleList(layers)
        self.final_norm = nn.LayerNorm(cfg.d_model)
        self.tagger = nn.Sequential(
            nn.Linear(cfg.d_model, cfg.d_model),
            nn.Tanh(),
            nn.Dropout(cfg.dropout),
            nn.Linear(cfg.d_model, cfg.num_tags),
        )
        self.loss_fn = nn.CrossEntropyLoss(ignore_index=cfg.ignore_index)

    def embed(self, input_ids: torch.Tensor) -> torch.Tensor:
        B, T = input_ids.shape
        positions = torch.arange(T, device=input_ids.device).expand(B, T)
        return self.emb_drop(self.emb_norm(self.tok(input_ids) + self.pos(positions)))

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: Optional[torch.Tensor] = None):
        h = self.embed(input_ids)
        key_padding_mask = attention_mask == 0  # True where nothing may be attended to
        for layer in self.layers:
            h = layer(h, src_key_padding_mask=key_padding_mask)
        h = self.final_norm(h)
        logits = self.tagger(h)
        out = {"logits": logits}
        if labels is not None:
            out["loss"] = self.loss_fn(logits.transpose(1, 2), labels)
        return out


def make_batch(cfg: Config, lengths=(13, 8, 10, 5)):
    width = max(lengths)
    input_ids = torch.full((len(lengths), width), cfg.pad_token_id)
    labels = torch.full((len(lengths), width), cfg.ignore_index)
    for i, n in enumerate(lengths):
        input_ids[i, :n] = torch.randint(1, cfg.vocab_size, (n,))
        labels[i, :n] = torch.randint(0, cfg.num_tags, (n,))
    return {"input_ids": input_ids, "attention_mask": (input_ids != cfg.pad_token_id).long(), "labels": labels}


def build():
    cfg = Config()
    model = NERModel(cfg)
    no_decay = ["bias", "norm"]
    groups = [
        {"params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)], "weight_decay": 0.01},
        {"params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)], "weight_decay": 0.0},
    ]
    return {"model": model, "batch": make_batch(cfg), "optimizer": torch.optim.AdamW(groups, lr=5e-5)}
