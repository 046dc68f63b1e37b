"""Spam by DistilBERT of transformers, made small: a loop of one's own with attention masks, a linear schedule, F1."""

import random

import torch
from torch.optim import AdamW
from torch.utils.data import DataLoader
from transformers import DistilBertConfig, DistilBertForSequenceClassification, get_linear_schedule_with_warmup

SEED, EPOCHS, BATCH, PAD, CLS, SEP = 17, 2, 16, 0, 1, 2
random.seed(SEED)
torch.manual_seed(SEED)


def message():
    spam = random.random() < 0.4
    words = [random.randint(10, 59) for _ in range(random.randint(5, 16))]
    if spam:
        for _ in range(2):
            words[random.randrange(len(words))] = random.randint(3, 9)
    return {"input_ids": [CLS, *words, SEP], "label": int(spam)}


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = torch.full((len(rows), width), PAD)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    for i, row in enumerate(rows):
        ids[i, : len(row["input_ids"])] = torch.tensor(row["input_ids"])
        mask[i, : len(row["input_ids"])] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([r["label"] for r in rows])}


messages = [message() for _ in range(480)]
train_dataloader = DataLoader(messages[:400], batch_size=BATCH, shuffle=True, collate_fn=collate)
eval_dataloader = DataLoader(messages[400:], batch_size=BATCH, collate_fn=collate)

config = DistilBertConfig(vocab_size=60, dim=32, n_layers=2, n_heads=2, hidden_dim=64, max_position_embeddings=24, num_labels=2)
model = DistilBertForSequenceClassification(config)
optimizer = AdamW(model.parameters(), lr=2e-3)
num_training_steps = EPOCHS * len(train_dataloader)
lr_scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=4, num_training_steps=num_training_steps)

for epoch in range(EPOCHS):
    model.train()
    train_loss = 0
    for batch in train_dataloader:
        outputs = model(**batch)
        loss = outputs.loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        lr_scheduler.step()
        optimizer.zero_grad()
        train_loss += loss.item()

    model.eval()
    predictions, references = [], []
    for batch in eval_dataloader:
        with torch.no_grad():
            outputs = model(**batch)
        predictions.extend(outputs.logits.argmax(dim=-1).tolist())
        references.extend(batch["labels"].tolist())
    hit = sum(p == r == 1 for p, r in zip(predictions, references))
    f1 = 2 * hit / max(1, sum(predictions) + sum(references))
    print(f"epoch {epoch}: loss {train_loss / len(train_dataloader):.3f}, f1 {f1:.3f}")
