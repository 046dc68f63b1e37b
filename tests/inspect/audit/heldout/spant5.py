"""Spans left out and written again: an encoder and a decoder whose first layers own the biases of distances, gated maps,
scores that are not divided, norms without a mean; answers in a class of its own, keys of the decoder handed back."""

import math
from dataclasses import dataclass

import badak as torch
import badak.nn.functional as F
from badak import nn


@dataclass
class Seq2SeqOutput:
    loss: object = None
    logits: object = None
    past_key_values: object = None
    encoder_last_hidden_state: object = None


class Config:
    vocab_size = 59
    d_model = 32
    d_kv = 8
    d_ff = 48
    num_heads = 4
    num_layers = 2
    buckets = 16
    max_distance = 20
    dropout = 0.1
    pad_token_id = 0
    decoder_start_token_id = 0


class LayerNormT5(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Attention(nn.Module):
    def __init__(self, config, is_decoder, has_relative_bias):
        super().__init__()
        self.is_decoder, self.config = is_decoder, config
        inner = config.num_heads * config.d_kv
        self.q, self.k = nn.Linear(config.d_model, inner, bias=False), nn.Linear(config.d_model, inner, bias=False)
        self.v, self.o = nn.Linear(config.d_model, inner, bias=False), nn.Linear(inner, config.d_model, bias=False)
        nn.init.normal_(self.q.weight, std=(config.d_model * config.d_kv) ** -0.5)
        nn.init.normal_(self.k.weight, std=config.d_model**-0.5)
        nn.init.normal_(self.v.weight, std=config.d_model**-0.5)
        self.relative_attention_bias = nn.Embedding(config.buckets, config.num_heads) if has_relative_bias else None

    def bucket(self, relative):
        n, out = self.config.buckets, 0
        if self.is_decoder:
            distance = -torch.minimum(relative, torch.zeros_like(relative))
        else:
            n //= 2
            out = (relative > 0).long() * n
            distance = relative.abs()
        exact = n // 2
        far = (
            exact
            + (torch.log(distance.float().clamp(min=1) / exact) / math.log(self.config.max_distance / exact) * (n - exact)).long()
        )
        return out + torch.where(distance < exact, distance, far.clamp(max=n - 1))

    def compute_bias(self, queries, keys):
        context = torch.arange(queries)[:, None] + keys - queries
        memory = torch.arange(keys)[None, :]
        values = self.relative_attention_bias(self.bucket(memory - context))
        return values.permute(2, 0, 1).unsqueeze(0)

    def split(self, x):
        return x.view(x.shape[0], -1, self.config.num_heads, self.config.d_kv).transpose(1, 2)

    def forward(self, x, mask, kv=None, position_bias=None, past=None):
        source = x if kv is None else kv
        q, k, v = self.split(self.q(x)), self.split(self.k(source)), self.split(self.v(source))
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        scores = torch.matmul(q, k.transpose(3, 2))
        if position_bias is None:
            if self.relative_attention_bias is not None:
                position_bias = self.compute_bias(k.shape[2], k.shape[2])[:, :, -q.shape[2] :]
            else:
                position_bias = torch.zeros(1, self.config.num_heads, q.shape[2], k.shape[2])
            position_bias = position_bias + mask
        weights = F.softmax(scores + position_bias, dim=-1)
        weights = F.dropout(weights, self.config.dropout, self.training)
        out = torch.matmul(weights, v).transpose(1, 2).contiguous().view(x.shape[0], -1, self.config.num_heads * self.config.d_kv)
        return self.o(out), position_bias, (k, v)


class GatedFF(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wi_0 = nn.Linear(config.d_model, config.d_ff, bias=False)
        self.wi_1 = nn.Linear(config.d_model, config.d_ff, bias=False)
        self.wo, self.dropout = nn.Linear(config.d_ff, config.d_model, bias=False), nn.Dropout(config.dropout)

    def forward(self, x):
        return self.wo(self.dropout(F.gelu(self.wi_0(x)) * self.wi_1(x)))


class Block(nn.Module):
    def __init__(self, config, is_decoder, first):
        super().__init__()
        self.self_attention, self.norm_self = Attention(config, is_decoder, first), LayerNormT5(config.d_model)
        if is_decoder:
            self.cross_attention, self.norm_cross = Attention(config, is_decoder, False), LayerNormT5(config.d_model)
        self.ff, self.norm_ff = GatedFF(config), LayerNormT5(config.d_model)
        self.is_decoder, self.dropout = is_decoder, nn.Dropout(config.dropout)

    def forward(self, x, mask, bias, memory=None, memory_mask=None, memory_bias=None, past=None):
        h, bias, present = self.self_attention(self.norm_self(x), mask, position_bias=bias, past=past)
        x = x + self.dropout(h)
        if self.is_decoder:
            h, memory_bias, _ = self.cross_attention(self.norm_cross(x), memory_mask, kv=memory, position_bias=memory_bias)
            x = x + self.dropout(h)
        x = x + self.dropout(self.ff(self.norm_ff(x)))
        return x, bias, memory_bias, present


class Stack(nn.Module):
    def __init__(self, config, embed, is_decoder):
        super().__init__()
        self.embed_tokens, self.is_decoder = embed, is_decoder
        self.block = nn.ModuleList([Block(config, is_decoder, i == 0) for i in range(config.num_layers)])
        self.final_layer_norm, self.dropout = LayerNormT5(config.d_model), nn.Dropout(config.dropout)

    def forward(self, ids, attention_mask=None, memory=None, memory_mask=None, past_key_values=None):
        x = self.dropout(self.embed_tokens(ids))
        t = ids.shape[1]
        before = 0 if past_key_values is None else past_key_values[0][0].shape[2]
        if self.is_decoder:
            mask = torch.full((t, t + before), -1e9).triu(1 + before)[None, None]
            memory_mask = (1.0 - memory_mask[:, None, None, :].float()) * -1e9
        else:
            mask = (1.0 - attention_mask[:, None, None, :].float()) * -1e9
        bias, memory_bias, presents = None, None, []
        for i, block in enumerate(self.block):
            past = None if past_key_values is None else past_key_values[i]
            x, bias, memory_bias, present = block(x, mask, bias, memory, memory_mask, memory_bias, past)
            presents.append(present)
        return self.dropout(self.final_layer_norm(x)), presents


class SpanT5(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.shared = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = Stack(config, self.shared, is_decoder=False)
        self.decoder = Stack(config, self.shared, is_decoder=True)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)

    def shift_right(self, labels):
        start = labels.new_full((labels.shape[0], 1), self.config.decoder_start_token_id)
        moved = torch.cat([start, labels[:, :-1]], dim=1)
        return moved.masked_fill(moved == -100, self.config.pad_token_id)

    def forward(self, input_ids, attention_mask, decoder_input_ids=None, labels=None, past_key_values=None):
        memory, _ = self.encoder(input_ids, attention_mask)
        if labels is not None and decoder_input_ids is None:
            decoder_input_ids = self.shift_right(labels)
        x, presents = self.decoder(decoder_input_ids, None, memory, attention_mask, past_key_values)
        logits = self.lm_head(x)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1), ignore_index=-100)
        return Seq2SeqOutput(loss, logits, presents, memory)


def build():
    ids, mask = torch.randint(1, 59, (4, 13)), torch.ones(4, 13, dtype=torch.long)
    labels = torch.randint(1, 59, (4, 9))
    for row, n in enumerate((13, 9, 11, 7)):
        ids[row, n:], mask[row, n:] = 0, 0
    for row, n in enumerate((9, 6, 8, 9)):
        labels[row, n:] = -100
    return {"model": SpanT5(Config()), "batch": {"input_ids": ids, "attention_mask": mask, "labels": labels}}
