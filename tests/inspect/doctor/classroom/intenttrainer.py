"""Fine-tuning a sentence classifier for intents, with a Trainer like that of Hugging Face, by hand."""

import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

INTENTS = {
    "alarm": ["set an alarm for {t}", "wake me up at {t}", "i need to get up at {t}"],
    "weather": ["will it rain in {p}", "how warm is it in {p}", "weather for {p} at {t}"],
    "music": ["play some {m}", "i want to hear {m}", "turn on {m} please"],
    "travel": ["book a train to {p}", "when does the bus to {p} leave", "i want to go to {p} at {t}"],
    "lights": ["turn on the lights", "make it darker in here please", "lights off at {t}"],
}
FILL = {
    "t": ["six", "seven", "noon", "ten", "half past nine"],
    "p": ["paris", "berlin", "rome", "the city", "town"],
    "m": ["jazz", "rock", "the radio", "piano music"],
}
CLS, PAD, UNK = 2, 0, 1
id2label = dict(enumerate(INTENTS))


@dataclass
class TrainingArguments:
    output_dir: str = "out"
    learning_rate: float = 2e-3
    per_device_train_batch_size: int = 8
    per_device_eval_batch_size: int = 32
    gradient_accumulation_steps: int = 2
    num_train_epochs: int = 3
    warmup_ratio: float = 0.1
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    seed: int = 42


class Tokenizer:
    def __init__(self, texts):
        words = sorted({w for t in texts for w in t.split()})
        self.vocab = {"[PAD]": PAD, "[UNK]": UNK, "[CLS]": CLS, **{w: i + 3 for i, w in enumerate(words)}}

    def __call__(self, text, max_length=12):
        ids = [CLS] + [self.vocab.get(w, UNK) for w in text.split()]
        return {"input_ids": ids[:max_length]}


def data_collator(features):
    longest = max(len(f["input_ids"]) for f in features)
    input_ids = torch.full((len(features), longest), PAD)
    attention_mask = torch.zeros(len(features), longest, dtype=torch.long)
    for i, f in enumerate(features):
        n = len(f["input_ids"])
        input_ids[i, :n] = torch.tensor(f["input_ids"])
        attention_mask[i, :n] = 1
    labels = torch.tensor([f["label"] for f in features])
    return {"input_ids": input_ids, "attention_mask": attention_mask, "labels": labels}


class IntentModel(nn.Module):
    def __init__(self, vocab_size, num_labels, dim=40, heads=4, layers=2):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, dim, padding_idx=PAD)
        self.position_embeddings = nn.Embedding(16, dim)
        self.norm = nn.LayerNorm(dim)
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(dim, heads, 2 * dim, 0.1, activation="gelu", batch_first=True) for _ in range(layers)]
        )
        self.pooler = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(dim, num_labels)

    def forward(self, input_ids, attention_mask, labels=None):
        positions = torch.arange(input_ids.size(1), device=input_ids.device)
        h = self.norm(self.word_embeddings(input_ids) + self.position_embeddings(positions))
        for layer in self.layers:
            h = layer(h, src_key_padding_mask=attention_mask.eq(0))
        pooled = torch.tanh(self.pooler(h[:, 0]))
        logits = self.classifier(self.dropout(pooled))
        loss = F.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


def compute_metrics(logits, labels):
    predictions = np.argmax(logits, axis=-1)
    f1s = []
    for c in range(logits.shape[1]):
        tp = ((predictions == c) & (labels == c)).sum()
        fp = ((predictions == c) & (labels != c)).sum()
        fn = ((predictions != c) & (labels == c)).sum()
        f1s.append(2 * tp / max(2 * tp + fp + fn, 1))
    return {"accuracy": (predictions == labels).mean(), "macro_f1": np.mean(f1s)}


class Trainer:
    def __init__(self, model, args, train_dataset, eval_dataset):
        self.model, self.args = model, args
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset

    def get_train_dataloader(self):
        return DataLoader(self.train_dataset, self.args.per_device_train_batch_size, shuffle=True, collate_fn=data_collator)

    def get_eval_dataloader(self):
        return DataLoader(self.eval_dataset, self.args.per_device_eval_batch_size, collate_fn=data_collator)

    def create_optimizer_and_scheduler(self, num_training_steps):
        skip = ("bias", "norm")
        named = list(self.model.named_parameters())
        groups = [
            {"params": [p for n, p in named if not any(s in n for s in skip)], "weight_decay": self.args.weight_decay},
            {"params": [p for n, p in named if any(s in n for s in skip)], "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, lr=self.args.learning_rate)
        warmup = int(num_training_steps * self.args.warmup_ratio)

        def factor(step):
            if step < warmup:
                return (step + 1) / (warmup + 1)
            return max(0.0, (num_training_steps - step) / (num_training_steps - warmup))

        return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, factor)

    def train(self):
        args, loader = self.args, self.get_train_dataloader()
        steps_per_epoch = len(loader) // args.gradient_accumulation_steps
        optimizer, scheduler = self.create_optimizer_and_scheduler(steps_per_epoch * args.num_train_epochs)
        global_step, logged = 0, 0.0
        for epoch in range(args.num_train_epochs):
            self.model.train()
            for step, inputs in enumerate(loader):
                outputs = self.model(**inputs)
                loss = outputs["loss"] / args.gradient_accumulation_steps
                loss.backward()
                logged += loss.item()
                if (step + 1) % args.gradient_accumulation_steps == 0:
                    nn.utils.clip_grad_norm_(self.model.parameters(), args.max_grad_norm)
                    optimizer.step()
                    scheduler.step()
                    optimizer.zero_grad()
                    global_step += 1
                    if global_step % 20 == 0:
                        print({"loss": round(logged / 20, 4), "learning_rate": scheduler.get_last_lr()[0], "step": global_step})
                        logged = 0.0
            print({"epoch": epoch + 1, **self.evaluate()})

    def evaluate(self):
        self.model.eval()
        all_logits, all_labels, losses = [], [], []
        for inputs in self.get_eval_dataloader():
            with torch.no_grad():
                outputs = self.model(**inputs)
            losses.append(outputs["loss"].item())
            all_logits.append(outputs["logits"].numpy())
            all_labels.append(inputs["labels"].numpy())
        metrics = compute_metrics(np.concatenate(all_logits), np.concatenate(all_labels))
        return {"eval_loss": float(np.mean(losses)), **{f"eval_{k}": float(v) for k, v in metrics.items()}}


if __name__ == "__main__":
    args = TrainingArguments()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    examples = []
    for _ in range(900):
        label = random.randrange(len(INTENTS))
        text = random.choice(INTENTS[id2label[label]]).format(**{k: random.choice(v) for k, v in FILL.items()})
        words = [w if random.random() > 0.15 else random.choice(["please", "um", "the", "at"]) for w in text.split()]
        examples.append({"text": " ".join(words), "label": label})
    train_examples, eval_examples = examples[:700], examples[700:]
    tokenizer = Tokenizer([e["text"] for e in train_examples])
    train_dataset = [{**tokenizer(e["text"]), "label": e["label"]} for e in train_examples]
    eval_dataset = [{**tokenizer(e["text"]), "label": e["label"]} for e in eval_examples]
    model = IntentModel(len(tokenizer.vocab), len(INTENTS))
    trainer = Trainer(model, args, train_dataset, eval_dataset)
    trainer.train()
    print(trainer.evaluate())
