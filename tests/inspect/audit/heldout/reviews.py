"""A sentiment classifier: a BERT-like encoder over padded film reviews, everything by hand, the answer read from the first token."""

import math

import badak as torch
import badak.nn as nn

PAD_ID = 0
CLS_ID = 1


class BertEmbeddings(nn.Module):
    """token + position embeddings, then LayerNorm and dropout"""

    def __init__(self, vocab_size, hidden_size, max_len, dropout):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, hidden_size, padding_idx=PAD_ID)
        self.position_embeddings = nn.Embedding(max_len, hidden_size)
        self.layer_norm = nn.LayerNorm(hidden_size, eps=1e-12)
        self.dropout = nn.Dropout(dropout)

    def forward(self, input_ids):
        seq_length = input_ids.size(1)
        position_ids = torch.arange(seq_length, dtype=torch.long, device=input_ids.device)
        position_ids = position_ids.unsqueeze(0).expand_as(input_ids)
        embeddings = self.word_embeddings(input_ids) + self.position_embeddings(position_ids)
        embeddings = self.layer_norm(embeddings)
        return self.dropout(embeddings)


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, hidden_size, num_heads, dropout):
        super().__init__()
        assert hidden_size % num_heads == 0
        self.num_heads = num_heads
        self.head_size = hidden_size // num_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def split_heads(self, x):
        batch_size, seq_len, _ = x.size()
        return x.view(batch_size, seq_len, self.num_heads, self.head_size).permute(0, 2, 1, 3)

    def forward(self, x, mask=None):
        batch_size, seq_len, hidden_size = x.size()
        q = self.split_heads(self.query(x))
        k = self.split_heads(self.key(x))
        v = self.split_heads(self.value(x))

        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_size)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        attn = torch.softmax(scores, dim=-1)
        attn = self.dropout(attn)

        context = torch.matmul(attn, v)
        context = context.permute(0, 2, 1, 3).contiguous().view(batch_size, seq_len, hidden_size)
        return self.out(context)


class EncoderLayer(nn.Module):
    def __init__(self, hidden_size, num_heads, ffn_size, dropout):
        super().__init__()
        self.self_attn = MultiHeadSelfAttention(hidden_size, num_heads, dropout)
        self.norm1 = nn.LayerNorm(hidden_size)
        self.norm2 = nn.LayerNorm(hidden_size)
        self.fc1 = nn.Linear(hidden_size, ffn_size)
        self.fc2 = nn.Linear(ffn_size, hidden_size)
        self.act = nn.GELU()
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        # self attention block
        attn_out = self.self_attn(x, mask)
        x = self.norm1(x + self.dropout(attn_out))
        # feed forward block
        ffn_out = self.fc2(self.act(self.fc1(x)))
        x = self.norm2(x + self.dropout(ffn_out))
        return x


class SentimentClassifier(nn.Module):
    def __init__(
        self, vocab_size=120, hidden_size=32, num_layers=2, num_heads=4, ffn_size=64, max_len=40, num_classes=2, dropout=0.1
    ):
        super().__init__()
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_len, dropout)
        self.layers = nn.ModuleList([EncoderLayer(hidden_size, num_heads, ffn_size, dropout) for _ in range(num_layers)])
        self.pooler = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(hidden_size, num_classes)

    def forward(self, input_ids, attention_mask):
        mask = attention_mask.unsqueeze(1).unsqueeze(2)  # (B, 1, 1, T)
        x = self.embeddings(input_ids)
        for layer in self.layers:
            x = layer(x, mask)
        cls = x[:, 0]
        pooled = torch.tanh(self.pooler(cls))
        return self.classifier(self.dropout(pooled))


def collate(lengths, max_len, vocab_size):
    ids = torch.full((len(lengths), max_len), PAD_ID)
    for i, n in enumerate(lengths):
        ids[i, 0] = CLS_ID
        ids[i, 1:n] = torch.randint(2, vocab_size, (n - 1,))
    return ids, (ids != PAD_ID).long()


def build():
    model = SentimentClassifier()
    input_ids, attention_mask = collate([14, 9, 12, 6], 14, 120)
    labels = torch.tensor([0, 1, 1, 0])
    criterion = nn.CrossEntropyLoss()
    return {
        "model": model,
        "batch": {"input_ids": input_ids, "attention_mask": attention_mask},
        "loss": lambda logits: criterion(logits, labels),
    }
