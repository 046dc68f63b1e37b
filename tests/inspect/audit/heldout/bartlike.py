"""Summaries: an encoder and a decoder with the norm behind each sum, positions counted from 2, the words of both in one table;
what the decoder reads is made of the labels."""

import badak as torch
import badak.nn.functional as F
from badak import nn

PAD, BOS, EOS = 1, 0, 2


def shift_tokens_right(labels):
    shifted = labels.new_zeros(labels.shape)
    shifted[:, 1:] = labels[:, :-1].clone()
    shifted[:, 0] = EOS
    return shifted.masked_fill(shifted == -100, PAD)


class LearnedPositions(nn.Embedding):
    def __init__(self, longest, width):
        self.offset = 2
        super().__init__(longest + self.offset, width)

    def forward(self, ids, past=0):
        places = torch.arange(past, past + ids.shape[1])
        return super().forward(places + self.offset)


class BartAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0):
        super().__init__()
        self.num_heads, self.head_dim, self.dropout = num_heads, embed_dim // num_heads, dropout
        self.scaling = self.head_dim**-0.5
        self.k_proj, self.v_proj = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.q_proj, self.out_proj = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)

    def _shape(self, x):
        return x.view(x.shape[0], -1, self.num_heads, self.head_dim).transpose(1, 2).contiguous()

    def forward(self, hidden_states, key_value_states=None, attention_mask=None):
        bsz, tgt_len, embed_dim = hidden_states.shape
        query = self._shape(self.q_proj(hidden_states) * self.scaling)
        source = hidden_states if key_value_states is None else key_value_states
        key, value = self._shape(self.k_proj(source)), self._shape(self.v_proj(source))
        flat = (bsz * self.num_heads, -1, self.head_dim)
        query, key, value = query.view(*flat), key.view(*flat), value.view(*flat)
        attn_weights = torch.bmm(query, key.transpose(1, 2))
        if attention_mask is not None:
            attn_weights = attn_weights.view(bsz, self.num_heads, tgt_len, -1) + attention_mask
            attn_weights = attn_weights.view(bsz * self.num_heads, tgt_len, -1)
        attn_weights = F.softmax(attn_weights, dim=-1)
        attn_probs = F.dropout(attn_weights, p=self.dropout, training=self.training)
        attn_output = torch.bmm(attn_probs, value)
        attn_output = attn_output.view(bsz, self.num_heads, tgt_len, self.head_dim).transpose(1, 2)
        return self.out_proj(attn_output.reshape(bsz, tgt_len, embed_dim))


class BartEncoderLayer(nn.Module):
    def __init__(self, d, heads, ffn, p):
        super().__init__()
        self.self_attn = BartAttention(d, heads, p)
        self.self_attn_layer_norm, self.final_layer_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.fc1, self.fc2, self.dropout = nn.Linear(d, ffn), nn.Linear(ffn, d), p

    def forward(self, hidden_states, attention_mask):
        residual = hidden_states
        hidden_states = self.self_attn(hidden_states, attention_mask=attention_mask)
        hidden_states = F.dropout(hidden_states, p=self.dropout, training=self.training)
        hidden_states = self.self_attn_layer_norm(residual + hidden_states)
        residual = hidden_states
        hidden_states = self.fc2(F.gelu(self.fc1(hidden_states)))
        hidden_states = F.dropout(hidden_states, p=self.dropout, training=self.training)
        return self.final_layer_norm(residual + hidden_states)


class BartDecoderLayer(nn.Module):
    def __init__(self, d, heads, ffn, p):
        super().__init__()
        self.self_attn, self.encoder_attn = BartAttention(d, heads, p), BartAttention(d, heads, p)
        self.self_attn_layer_norm, self.encoder_attn_layer_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.fc1, self.fc2, self.dropout = nn.Linear(d, ffn), nn.Linear(ffn, d), p
        self.final_layer_norm = nn.LayerNorm(d)

    def forward(self, hidden_states, attention_mask, encoder_hidden_states, encoder_attention_mask):
        residual = hidden_states
        hidden_states = self.self_attn(hidden_states, attention_mask=attention_mask)
        hidden_states = F.dropout(hidden_states, p=self.dropout, training=self.training)
        hidden_states = self.self_attn_layer_norm(residual + hidden_states)
        residual = hidden_states
        hidden_states = self.encoder_attn(hidden_states, encoder_hidden_states, encoder_attention_mask)
        hidden_states = F.dropout(hidden_states, p=self.dropout, training=self.training)
        hidden_states = self.encoder_attn_layer_norm(residual + hidden_states)
        residual = hidden_states
        hidden_states = self.fc2(F.gelu(self.fc1(hidden_states)))
        hidden_states = F.dropout(hidden_states, p=self.dropout, training=self.training)
        return self.final_layer_norm(residual + hidden_states)


class BartSide(nn.Module):
    def __init__(self, layer, shared, d, heads, depth, longest, p):
        super().__init__()
        self.embed_tokens, self.embed_positions = shared, LearnedPositions(longest, d)
        self.layernorm_embedding, self.p = nn.LayerNorm(d), p
        self.layers = nn.ModuleList([layer(d, heads, 2 * d, p) for _ in range(depth)])

    def embed(self, ids):
        x = self.layernorm_embedding(self.embed_tokens(ids) + self.embed_positions(ids))
        return F.dropout(x, p=self.p, training=self.training)


class BartForSummaries(nn.Module):
    def __init__(self, vocab=51, d=32, heads=4, depth=2, longest=24, p=0.1):
        super().__init__()
        self.shared = nn.Embedding(vocab, d, padding_idx=PAD)
        self.encoder = BartSide(BartEncoderLayer, self.shared, d, heads, depth, longest, p)
        self.decoder = BartSide(BartDecoderLayer, self.shared, d, heads, depth, longest, p)
        self.register_buffer("final_logits_bias", torch.zeros(1, vocab))

    def forward(self, input_ids, attention_mask, labels):
        decoder_input_ids = shift_tokens_right(labels)
        lowest = torch.finfo(torch.float32).min
        cross_mask = (1.0 - attention_mask[:, None, None, :].float()) * lowest
        tgt_len = labels.shape[1]
        causal_mask = torch.full((tgt_len, tgt_len), lowest).triu(1)[None, None]

        memory = self.encoder.embed(input_ids)
        for layer in self.encoder.layers:
            memory = layer(memory, cross_mask)
        y = self.decoder.embed(decoder_input_ids)
        for layer in self.decoder.layers:
            y = layer(y, causal_mask, memory, cross_mask)
        lm_logits = F.linear(y, self.shared.weight) + self.final_logits_bias
        loss = F.cross_entropy(lm_logits.view(-1, lm_logits.shape[-1]), labels.view(-1), ignore_index=-100)
        return {"loss": loss, "logits": lm_logits, "encoder_last_hidden_state": memory}


def build():
    ids, labels = torch.randint(4, 51, (4, 13)), torch.randint(4, 51, (4, 9))
    mask = torch.ones(4, 13, dtype=torch.long)
    for row, (s, t) in enumerate(((13, 9), (9, 6), (11, 7), (6, 8))):
        ids[row, s:], mask[row, s:], labels[row, t:] = PAD, 0, -100
    return {"model": BartForSummaries(), "batch": {"input_ids": ids, "attention_mask": mask, "labels": labels}}
