"""Sea shanties letter by letter: nn.TransformerEncoder with a causal mask, windows of a long text, accumulation."""

import math

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(41)
VERSE = [
    "what shall we do with the drunken sailor early in the morning",
    "way hay and up she rises early in the morning",
    "put him in the longboat until he is sober",
    "fifteen men on the dead man's chest yo ho ho and a bottle of rum",
    "drink and the devil had done for the rest yo ho ho",
]
g = torch.Generator().manual_seed(41)
text = "\n".join(VERSE[int(torch.randint(len(VERSE), (), generator=g))] for _ in range(220))
letters = sorted(set(text))
encode = {c: i for i, c in enumerate(letters)}
data = torch.tensor([encode[c] for c in text])
cut = int(0.9 * len(data))
train_data, val_data = data[:cut], data[cut:]

BLOCK, BATCH, ACCUM, WIDTH, HEADS, LAYERS, DROPOUT = 24, 8, 2, 32, 4, 2, 0.1
MAX_LR, MIN_LR, WARM, TOTAL = 3e-3, 3e-4, 6, 40


def get_batch(source):
    ix = torch.randint(len(source) - BLOCK - 1, (BATCH,))
    x = torch.stack([source[i : i + BLOCK] for i in ix])
    y = torch.stack([source[i + 1 : i + BLOCK + 1] for i in ix])
    return x, y


class Shanty(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.token = nn.Embedding(vocab, WIDTH)
        self.place = nn.Embedding(BLOCK, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, DROPOUT, activation="gelu", batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, vocab, bias=False)
        self.head.weight = self.token.weight
        nn.init.normal_(self.token.weight, std=0.1)
        nn.init.normal_(self.place.weight, std=0.1)

    def forward(self, idx, targets=None):
        T = idx.shape[1]
        x = self.token(idx) + self.place(torch.arange(T))
        mask = nn.Transformer.generate_square_subsequent_mask(T)
        x = self.norm(self.body(x, mask=mask))
        logits = self.head(x)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))

    @torch.no_grad()
    def sample(self, idx, n):
        for _ in range(n):
            logits, _ = self(idx[:, -BLOCK:])
            probs = F.softmax(logits[:, -1] / 0.8, dim=-1)
            idx = torch.cat([idx, torch.multinomial(probs, 1)], dim=1)
        return idx


def lr_at(step):
    if step < WARM:
        return MAX_LR * (step + 1) / WARM
    done = (step - WARM) / (TOTAL - WARM)
    return MIN_LR + 0.5 * (MAX_LR - MIN_LR) * (1 + math.cos(math.pi * done))


@torch.no_grad()
def estimate(model):
    model.eval()
    out = {}
    for name, source in (("train", train_data), ("val", val_data)):
        out[name] = sum(model(*get_batch(source))[1].item() for _ in range(4)) / 4
    model.train()
    return out


model = Shanty(len(letters))
decay = [p for p in model.parameters() if p.dim() > 1]
plain = [p for p in model.parameters() if p.dim() <= 1]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}], lr=MAX_LR)

model.train()
for step in range(TOTAL):
    for group in optimizer.param_groups:
        group["lr"] = lr_at(step)
    optimizer.zero_grad(set_to_none=True)
    for _ in range(ACCUM):
        x, y = get_batch(train_data)
        _, loss = model(x, y)
        (loss / ACCUM).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 10 == 9:
        losses = estimate(model)
        print(f"step {step}: train {losses['train']:.3f} val {losses['val']:.3f}")

model.eval()
made = model.sample(torch.tensor([[encode["w"]]]), 40)
print("".join(letters[i] for i in made[0].tolist()))
