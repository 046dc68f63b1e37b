"""Where in a short text the answer stands: a small BERT with segments and a span head, a Trainer with arguments and a collator."""

import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

NAMES = [f"name{i}" for i in range(24)]
CITIES = [f"city{i}" for i in range(24)]
JOBS = [f"job{i}" for i in range(24)]
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
WORDS = ["lives", "in", "works", "as", "where", "what", "does", "live", "do", "and", "also", "today", "."]
VOCAB = {word: i for i, word in enumerate(SPECIAL + WORDS + NAMES + CITIES + JOBS)}
PAD, CLS, SEP = 0, 1, 2


def make_example(rng):
    context, facts = [], {}
    for name in rng.sample(NAMES, rng.choice([1, 2])):
        city, job = rng.choice(CITIES), rng.choice(JOBS)
        facts[name] = (city, job)
        context += [name, "lives", "in", city] + rng.choice([["today"], []]) + ["and", "works", "as", job, "."]
    name = rng.choice(list(facts))
    ask_city = rng.random() < 0.5
    question = ["where", "does", name, "live"] if ask_city else ["what", "does", name, "do"]
    start = context.index(name)
    answer = facts[name][0 if ask_city else 1]
    return {"question": question, "context": context, "answer": context.index(answer, start)}


class Questions(Dataset):
    def __init__(self, size, seed):
        rng = random.Random(seed)
        self.examples = [make_example(rng) for _ in range(size)]

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, index):
        example = self.examples[index]
        question = [CLS] + [VOCAB[w] for w in example["question"]] + [SEP]
        context = [VOCAB[w] for w in example["context"]] + [SEP]
        position = len(question) + example["answer"]
        return {
            "input_ids": question + context,
            "token_type_ids": [0] * len(question) + [1] * len(context),
            "start_positions": position,
            "end_positions": position,
        }


class DataCollator:
    def __call__(self, features):
        longest = max(len(f["input_ids"]) for f in features)
        batch = {}
        for key in ("input_ids", "token_type_ids"):
            batch[key] = torch.tensor([f[key] + [PAD] * (longest - len(f[key])) for f in features])
        batch["attention_mask"] = torch.tensor(
            [[1] * len(f["input_ids"]) + [0] * (longest - len(f["input_ids"])) for f in features]
        )
        for key in ("start_positions", "end_positions"):
            batch[key] = torch.tensor([f[key] for f in features])
        return batch


class SpanModel(nn.Module):
    def __init__(self, vocab_size, hidden=48, heads=4, layers=2, dropout=0.1):
        super().__init__()
        self.words = nn.Embedding(vocab_size, hidden, padding_idx=PAD)
        self.positions = nn.Embedding(64, hidden)
        self.segments = nn.Embedding(2, hidden)
        self.norm, self.dropout = nn.LayerNorm(hidden), nn.Dropout(dropout)
        layer = nn.TransformerEncoderLayer(hidden, heads, 2 * hidden, dropout, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.qa_outputs = nn.Linear(hidden, 2)

    def forward(self, input_ids, attention_mask, token_type_ids, start_positions=None, end_positions=None):
        places = torch.arange(input_ids.size(1))
        x = self.words(input_ids) + self.positions(places) + self.segments(token_type_ids)
        x = self.encoder(self.dropout(self.norm(x)), src_key_padding_mask=attention_mask == 0)
        start_logits, end_logits = self.qa_outputs(x).unbind(dim=-1)
        hidden_places = attention_mask == 0
        start_logits = start_logits.masked_fill(hidden_places, -1e4)
        end_logits = end_logits.masked_fill(hidden_places, -1e4)
        loss = None
        if start_positions is not None:
            criterion = nn.CrossEntropyLoss()
            loss = (criterion(start_logits, start_positions) + criterion(end_logits, end_positions)) / 2
        return {"loss": loss, "start_logits": start_logits, "end_logits": end_logits}


@dataclass
class TrainingArguments:
    epochs: int = 3
    batch_size: int = 24
    learning_rate: float = 2e-3
    warmup_ratio: float = 0.1
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0


class Trainer:
    def __init__(self, model, args, train_dataset, eval_dataset):
        self.model, self.args = model, args
        collator = DataCollator()
        self.train_loader = DataLoader(train_dataset, args.batch_size, shuffle=True, collate_fn=collator)
        self.eval_loader = DataLoader(eval_dataset, 60, collate_fn=collator)
        decay = [p for p in model.parameters() if p.dim() > 1]
        no_decay = [p for p in model.parameters() if p.dim() <= 1]
        groups = [{"params": decay, "weight_decay": args.weight_decay}, {"params": no_decay, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=args.learning_rate)
        total = args.epochs * len(self.train_loader)
        warmup = int(total * args.warmup_ratio)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda s: min((s + 1) / warmup, max(0.0, (total - s) / (total - warmup)))
        )

    def train(self):
        for epoch in range(self.args.epochs):
            self.model.train()
            losses = 0.0
            for batch in self.train_loader:
                outputs = self.model(**batch)
                loss = outputs["loss"]
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
                self.optimizer.step()
                self.scheduler.step()
                self.optimizer.zero_grad()
                losses += loss.item()
            print(epoch, losses / len(self.train_loader), self.evaluate())

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        right = n = 0
        for batch in self.eval_loader:
            outputs = self.model(**batch)
            start = outputs["start_logits"].argmax(dim=-1)
            end = outputs["end_logits"].argmax(dim=-1)
            right += ((start == batch["start_positions"]) & (end == batch["end_positions"])).sum().item()
            n += len(start)
        return {"exact_match": right / n}


if __name__ == "__main__":
    torch.manual_seed(3)
    trainer = Trainer(SpanModel(len(VOCAB)), TrainingArguments(), Questions(1200, seed=0), Questions(180, seed=1))
    trainer.train()
