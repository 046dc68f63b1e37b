"""BERT of transformers is tuned for classes: padded texts with attention_mask, linear warm-up."""

import torch
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

torch.manual_seed(3)
config = BertConfig(
    vocab_size=60,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=24,
    num_labels=3,
)
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
epochs, per_epoch = 3, 20
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=4, num_training_steps=epochs * per_epoch)


def batch(n=12):
    lengths = torch.randint(5, 17, (n,))
    lengths[0] = 16
    ids = torch.randint(1, 60, (n, 16))
    mask = (torch.arange(16)[None] < lengths[:, None]).long()
    return {"input_ids": ids * mask, "attention_mask": mask, "labels": ids[:, 1] // 20}


for epoch in range(epochs):
    model.train()
    for _ in range(per_epoch):
        optimizer.zero_grad()
        inputs = batch()
        outputs = model(**inputs)
        outputs.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    model.eval()
    with torch.no_grad():
        inputs = batch()
        outputs = model(**inputs)
        accuracy = (outputs.logits.argmax(-1) == inputs["labels"]).float().mean()
    print(epoch, accuracy.item())
