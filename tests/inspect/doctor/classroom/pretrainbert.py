"""Pretraining of a small BERT: masked words and next sentence at once, outputs in a class, an attention mask of ones and zeros."""

import random
from types import SimpleNamespace

import torch
import torch.nn as nn
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset

SEED = 7
random.seed(SEED)
torch.manual_seed(SEED)
PAD, CLS, SEP, MASK = 0, 1, 2, 3
config = SimpleNamespace(vocab_size=60, hidden_size=32, num_layers=2, num_heads=4, intermediate_size=64, max_len=32, dropout=0.1)


def make_sentence(topic):
    """Words of a topic in a cycle, so that what is hidden can be guessed."""
    start, step, length = random.randrange(14), random.choice([1, 2]), random.randint(4, 10)
    return [4 + topic * 14 + (start + step * i) % 14 for i in range(length)]


class PairDataset(Dataset):
    def __init__(self, n):
        self.rows = []
        for _ in range(n):
            topic = random.randrange(4)
            is_next = random.random() < 0.5
            other = topic if is_next else (topic + random.randint(1, 3)) % 4
            self.rows.append((make_sentence(topic), make_sentence(other), int(is_next)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        a, b, is_next = self.rows[i]
        tokens = [CLS] + a + [SEP] + b + [SEP]
        segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
        return tokens, segments, is_next


def mask_tokens(input_ids):
    labels = input_ids.clone()
    probability = torch.full(labels.shape, 0.15)
    special = (input_ids == PAD) | (input_ids == CLS) | (input_ids == SEP)
    probability.masked_fill_(special, value=0.0)
    masked = torch.bernoulli(probability).bool()
    labels[~masked] = -100
    replaced = torch.bernoulli(torch.full(labels.shape, 0.8)).bool() & masked
    input_ids = input_ids.clone()
    input_ids[replaced] = MASK
    random_words = torch.bernoulli(torch.full(labels.shape, 0.5)).bool() & masked & ~replaced
    input_ids[random_words] = torch.randint(4, config.vocab_size, (int(random_words.sum()),))
    return input_ids, labels


def collate(rows):
    longest = max(len(tokens) for tokens, _, _ in rows)
    input_ids = torch.full((len(rows), longest), PAD)
    token_type_ids = torch.zeros(len(rows), longest, dtype=torch.long)
    attention_mask = torch.zeros(len(rows), longest, dtype=torch.long)
    for i, (tokens, segments, _) in enumerate(rows):
        input_ids[i, : len(tokens)] = torch.tensor(tokens)
        token_type_ids[i, : len(segments)] = torch.tensor(segments)
        attention_mask[i, : len(tokens)] = 1
    input_ids, labels = mask_tokens(input_ids)
    return {
        "input_ids": input_ids,
        "token_type_ids": token_type_ids,
        "attention_mask": attention_mask,
        "labels": labels,
        "next_sentence_label": torch.tensor([row[2] for row in rows]),
    }


class BertEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=PAD)
        self.position_embeddings = nn.Embedding(config.max_len, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(2, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=1e-12)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, input_ids, token_type_ids):
        position_ids = torch.arange(input_ids.size(1)).unsqueeze(0).expand_as(input_ids)
        x = self.word_embeddings(input_ids) + self.position_embeddings(position_ids)
        x = x + self.token_type_embeddings(token_type_ids)
        return self.dropout(self.LayerNorm(x))


class BertSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.num_heads
        self.head_size = config.hidden_size // config.num_heads
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.dropout)

    def split_heads(self, x):
        new_shape = x.size()[:-1] + (self.num_heads, self.head_size)
        return x.view(*new_shape).permute(0, 2, 1, 3)

    def forward(self, x, attention_mask):
        q, k, v = self.split_heads(self.query(x)), self.split_heads(self.key(x)), self.split_heads(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / (self.head_size**0.5)
        scores = scores + attention_mask
        probs = self.dropout(nn.functional.softmax(scores, dim=-1))
        context = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        context = context.view(*context.size()[:-2], -1)
        return self.dense(context)


class BertLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = BertSelfAttention(config)
        self.norm1 = nn.LayerNorm(config.hidden_size)
        self.intermediate = nn.Linear(config.hidden_size, config.intermediate_size)
        self.output = nn.Linear(config.intermediate_size, config.hidden_size)
        self.norm2 = nn.LayerNorm(config.hidden_size)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x, attention_mask):
        x = self.norm1(x + self.dropout(self.attention(x, attention_mask)))
        h = self.output(nn.functional.gelu(self.intermediate(x)))
        return self.norm2(x + self.dropout(h))


class BertForPreTraining(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = BertEmbeddings(config)
        self.encoder = nn.ModuleList([BertLayer(config) for _ in range(config.num_layers)])
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size)
        self.predictions = nn.Linear(config.hidden_size, config.vocab_size)
        self.seq_relationship = nn.Linear(config.hidden_size, 2)

    def forward(self, input_ids, token_type_ids, attention_mask, labels=None, next_sentence_label=None):
        extended = attention_mask[:, None, None, :].float()
        extended = (1.0 - extended) * -10000.0
        hidden = self.embeddings(input_ids, token_type_ids)
        for layer in self.encoder:
            hidden = layer(hidden, extended)
        pooled = torch.tanh(self.pooler(hidden[:, 0]))
        prediction_logits = self.predictions(hidden)
        seq_relationship_logits = self.seq_relationship(pooled)
        loss = None
        if labels is not None:
            loss_fct = nn.CrossEntropyLoss()
            mlm_loss = loss_fct(prediction_logits.view(-1, config.vocab_size), labels.view(-1))
            nsp_loss = loss_fct(seq_relationship_logits.view(-1, 2), next_sentence_label.view(-1))
            loss = mlm_loss + nsp_loss
        return SimpleNamespace(loss=loss, prediction_logits=prediction_logits, seq_relationship_logits=seq_relationship_logits)


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def lr_lambda(current_step):
        if current_step < num_warmup_steps:
            return float(current_step) / float(max(1, num_warmup_steps))
        return max(0.0, float(num_training_steps - current_step) / float(num_training_steps - num_warmup_steps))

    return LambdaLR(optimizer, lr_lambda)


def main():
    train_loader = DataLoader(PairDataset(512), batch_size=16, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(PairDataset(64), batch_size=16, collate_fn=collate)
    model = BertForPreTraining(config)
    no_decay = ["bias", "norm", "LayerNorm"]
    grouped = [
        {"params": [p for n, p in model.named_parameters() if not any(d in n for d in no_decay)], "weight_decay": 0.01},
        {"params": [p for n, p in model.named_parameters() if any(d in n for d in no_decay)], "weight_decay": 0.0},
    ]
    optimizer = AdamW(grouped, lr=2e-3, eps=1e-8)
    scheduler = get_linear_schedule_with_warmup(optimizer, 4, 2 * len(train_loader))
    global_step, tr_loss = 0, 0.0
    model.zero_grad()
    for epoch in range(2):
        model.train()
        for batch in train_loader:
            outputs = model(**batch)
            loss = outputs.loss
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            model.zero_grad()
            tr_loss += loss.item()
            global_step += 1
        model.eval()
        hits = total = 0
        with torch.no_grad():
            for batch in dev_loader:
                outputs = model(**batch)
                hits += (outputs.seq_relationship_logits.argmax(-1) == batch["next_sentence_label"]).sum().item()
                total += len(batch["labels"])
        print(f"epoch {epoch} step {global_step} loss {tr_loss / global_step:.4f} nsp acc {hits / total:.3f}")


if __name__ == "__main__":
    main()
