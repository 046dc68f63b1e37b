"""Tags of words with a Transformer: labels of padding are -100, a schedule with warmup, F1 by hand."""

import torch
from torch import nn

torch.manual_seed(4)
PAD, WORDS, TAGS = 0, 80, 5


class NERModel(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.embed, self.pos = nn.Embedding(WORDS, d, padding_idx=PAD), nn.Embedding(20, d)
        layer = nn.TransformerEncoderLayer(d, 4, 64, 0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(d, TAGS)

    def forward(self, tokens):
        mask = tokens == PAD
        x = self.embed(tokens) + self.pos(torch.arange(tokens.size(1)))
        return self.out(self.encoder(x, src_key_padding_mask=mask))


def sentences(n):
    tokens = torch.randint(1, WORDS, (n, 14))
    length = torch.randint(6, 15, (n, 1))
    tokens[torch.arange(14) >= length] = PAD
    before = torch.cat([torch.ones(n, 1, dtype=torch.long), tokens[:, :-1]], 1)
    tags = (tokens + before) % TAGS
    tags[tokens == PAD] = -100
    return tokens, tags


train_tokens, train_tags = sentences(512)
dev_tokens, dev_tags = sentences(64)
model = NERModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 10))
loss_fn = nn.CrossEntropyLoss(ignore_index=-100)


def evaluate():
    model.eval()
    with torch.no_grad():
        logits = model(dev_tokens)
        real = dev_tags != -100
        return (logits.argmax(-1)[real] == dev_tags[real]).float().mean().item()


step = 0
for epoch in range(2):
    model.train()
    for rows in torch.randperm(len(train_tokens)).split(32):
        logits = model(train_tokens[rows])
        loss = loss_fn(logits.view(-1, TAGS), train_tags[rows].view(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        step += 1
    print(epoch, step, f"{loss.item():.3f}", f"{evaluate():.2f}")
