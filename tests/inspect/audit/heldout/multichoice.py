"""Which of four endings fits?  A small BERT reads each pair of context and ending; one score each, softmax over the four."""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class BertSelfAttention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, p):
        super().__init__()
        self.num_attention_heads = num_attention_heads
        self.attention_head_size = hidden_size // num_attention_heads
        self.all_head_size = self.num_attention_heads * self.attention_head_size
        self.query = nn.Linear(hidden_size, self.all_head_size)
        self.key = nn.Linear(hidden_size, self.all_head_size)
        self.value = nn.Linear(hidden_size, self.all_head_size)
        self.dropout = nn.Dropout(p)

    def transpose_for_scores(self, x):
        new_x_shape = x.size()[:-1] + (self.num_attention_heads, self.attention_head_size)
        x = x.view(*new_x_shape)
        return x.permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask):
        query_layer = self.transpose_for_scores(self.query(hidden_states))
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(self.value(hidden_states))
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / self.attention_head_size**0.5
        attention_scores = attention_scores + attention_mask
        attention_probs = nn.Softmax(dim=-1)(attention_scores)
        attention_probs = self.dropout(attention_probs)
        context_layer = torch.matmul(attention_probs, value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).contiguous()
        new_context_layer_shape = context_layer.size()[:-2] + (self.all_head_size,)
        return context_layer.view(*new_context_layer_shape)


class BertLayer(nn.Module):
    def __init__(self, hidden_size, heads, intermediate_size, p):
        super().__init__()
        self.attention = BertSelfAttention(hidden_size, heads, p)
        self.attention_output = nn.Linear(hidden_size, hidden_size)
        self.attention_norm = nn.LayerNorm(hidden_size)
        self.intermediate = nn.Linear(hidden_size, intermediate_size)
        self.output = nn.Linear(intermediate_size, hidden_size)
        self.output_norm = nn.LayerNorm(hidden_size)
        self.dropout = nn.Dropout(p)

    def forward(self, hidden_states, attention_mask):
        attended = self.dropout(self.attention_output(self.attention(hidden_states, attention_mask)))
        hidden_states = self.attention_norm(hidden_states + attended)
        inner = F.gelu(self.intermediate(hidden_states))
        return self.output_norm(hidden_states + self.dropout(self.output(inner)))


class MultipleChoice(nn.Module):
    def __init__(self, vocab_size=125, hidden_size=32, layers=2, heads=4, intermediate_size=64, max_position=40, p=0.1):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, hidden_size, padding_idx=0)
        self.position_embeddings = nn.Embedding(max_position, hidden_size)
        self.token_type_embeddings = nn.Embedding(2, hidden_size)
        self.norm = nn.LayerNorm(hidden_size)
        self.dropout = nn.Dropout(p)
        self.layer = nn.ModuleList([BertLayer(hidden_size, heads, intermediate_size, p) for _ in range(layers)])
        self.pooler = nn.Linear(hidden_size, hidden_size)
        self.classifier = nn.Linear(hidden_size, 1)

    def forward(self, input_ids, token_type_ids, attention_mask):
        num_choices = input_ids.shape[1]
        flat_ids = input_ids.view(-1, input_ids.size(-1))
        flat_types = token_type_ids.view(-1, token_type_ids.size(-1))
        flat_mask = attention_mask.view(-1, attention_mask.size(-1))
        mask = (1.0 - flat_mask[:, None, None, :].float()) * -10000.0
        position_ids = torch.arange(flat_ids.size(1)).unsqueeze(0)
        h = self.word_embeddings(flat_ids) + self.position_embeddings(position_ids) + self.token_type_embeddings(flat_types)
        h = self.dropout(self.norm(h))
        for layer in self.layer:
            h = layer(h, mask)
        pooled = torch.tanh(self.pooler(h[:, 0]))
        logits = self.classifier(self.dropout(pooled))
        return logits.view(-1, num_choices)


def build():
    B, C, T = 3, 4, 13
    input_ids = torch.randint(4, 125, (B, C, T))
    token_type_ids = torch.zeros(B, C, T, dtype=torch.long)
    lengths = torch.tensor([[13, 11, 10, 12], [9, 13, 12, 11], [12, 10, 13, 9]])
    input_ids[:, :, 0] = 1
    token_type_ids[:, :, 6:] = 1
    attention_mask = (torch.arange(T)[None, None] < lengths[:, :, None]).long()
    input_ids, token_type_ids = input_ids * attention_mask, token_type_ids * attention_mask
    labels = torch.tensor([2, 0, 3])
    model = MultipleChoice()
    batch = {"input_ids": input_ids, "token_type_ids": token_type_ids, "attention_mask": attention_mask}
    return {"model": model, "batch": batch, "loss": lambda logits: F.cross_entropy(logits, labels)}
