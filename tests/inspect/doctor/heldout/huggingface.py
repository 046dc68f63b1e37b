"""GPT-2 of transformers in a plain loop: the model shifts the labels itself."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, get_linear_schedule_with_warmup

torch.manual_seed(59)
model = GPT2LMHeadModel(GPT2Config(vocab_size=48, n_positions=16, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
schedule = get_linear_schedule_with_warmup(optimizer, 5, 60)


def batch():
    return (torch.randint(0, 48, (6, 1)) + torch.cumsum(torch.randint(1, 3, (6, 14)), 1)) % 48


model.train()
for step in range(30):
    ids = batch()
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    if step % 10 == 8:
        model.eval()
        with torch.no_grad():
            ids = batch()
            print(model(input_ids=ids, labels=ids).loss.item())
        model.train()
