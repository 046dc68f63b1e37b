"""Chord progressions with nn.TransformerEncoder and a causal mask (after the word language model of the PyTorch tutorials)."""

import math
import os
import time
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn
from torch.nn import TransformerEncoder, TransformerEncoderLayer

torch.manual_seed(21)
generator = torch.Generator().manual_seed(21)

CHORDS = ["I", "ii", "iii", "IV", "V", "vi", "vii", "V7", "I6", "|"]
NEXT = {
    "I": ["IV", "V", "vi", "ii"], "ii": ["V", "V7"], "iii": ["vi", "IV"], "IV": ["V", "I", "ii"], "V": ["I", "vi", "I6"],
    "vi": ["ii", "IV", "iii"], "vii": ["I"], "V7": ["I", "I6"], "I6": ["IV", "ii"],
}  # fmt: skip
VOCAB = {c: i for i, c in enumerate(CHORDS)}


def song(bars=8):
    chord, out = "I", []
    for _ in range(bars):
        for _ in range(2):
            out.append(VOCAB[chord])
            options = NEXT[chord]
            weights = torch.tensor([4.0, 2.0, 1.0, 1.0][: len(options)])
            chord = options[torch.multinomial(weights, 1, generator=generator).item()]
        out.append(VOCAB["|"])
    return out


def batchify(data: Tensor, bsz: int) -> Tensor:
    """Divides the data into ``bsz`` separate sequences; shape ``[N // bsz, bsz]``."""
    seq_len = data.size(0) // bsz
    data = data[: seq_len * bsz]
    return data.view(bsz, seq_len).t().contiguous()


train_data = torch.tensor([c for _ in range(300) for c in song()])
val_data = torch.tensor([c for _ in range(50) for c in song()])
test_data = torch.tensor([c for _ in range(50) for c in song()])
batch_size, eval_batch_size, bptt = 12, 10, 20
train_data = batchify(train_data, batch_size)
val_data = batchify(val_data, eval_batch_size)
test_data = batchify(test_data, eval_batch_size)


def get_batch(source: Tensor, i: int) -> tuple[Tensor, Tensor]:
    seq_len = min(bptt, len(source) - 1 - i)
    data = source[i : i + seq_len]
    target = source[i + 1 : i + 1 + seq_len].reshape(-1)
    return data, target


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 500):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(x + self.pe[: x.size(0)])


class TransformerModel(nn.Module):
    def __init__(self, ntoken: int, d_model: int, nhead: int, d_hid: int, nlayers: int, dropout: float = 0.2):
        super().__init__()
        self.pos_encoder = PositionalEncoding(d_model, dropout)
        self.transformer_encoder = TransformerEncoder(TransformerEncoderLayer(d_model, nhead, d_hid, dropout), nlayers)
        self.embedding = nn.Embedding(ntoken, d_model)
        self.d_model = d_model
        self.linear = nn.Linear(d_model, ntoken)
        self.init_weights()

    def init_weights(self) -> None:
        initrange = 0.1
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.linear.bias.data.zero_()
        self.linear.weight.data.uniform_(-initrange, initrange)

    def forward(self, src: Tensor) -> Tensor:
        src_mask = nn.Transformer.generate_square_subsequent_mask(len(src))
        src = self.pos_encoder(self.embedding(src) * math.sqrt(self.d_model))
        output = self.transformer_encoder(src, src_mask)
        return self.linear(output)


ntokens = len(CHORDS)
model = TransformerModel(ntokens, d_model=32, nhead=2, d_hid=64, nlayers=2, dropout=0.1)
criterion = nn.CrossEntropyLoss()
lr = 0.5
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.9)


def train(model: nn.Module, epoch: int) -> None:
    model.train()
    total_loss = 0.0
    log_interval = 10
    num_batches = len(train_data) // bptt
    for batch, i in enumerate(range(0, train_data.size(0) - 1, bptt)):
        data, targets = get_batch(train_data, i)
        output = model(data)
        loss = criterion(output.view(-1, ntokens), targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        total_loss += loss.item()
        if batch % log_interval == 0 and batch > 0:
            cur_loss = total_loss / log_interval
            print(
                f"| epoch {epoch:3d} | {batch:5d}/{num_batches:5d} batches | loss {cur_loss:5.2f} | ppl {math.exp(cur_loss):8.2f}"
            )
            total_loss = 0.0


def evaluate(model: nn.Module, eval_data: Tensor) -> float:
    model.eval()
    total_loss = 0.0
    with torch.no_grad():
        for i in range(0, eval_data.size(0) - 1, bptt):
            data, targets = get_batch(eval_data, i)
            output_flat = model(data).view(-1, ntokens)
            total_loss += len(data) * criterion(output_flat, targets).item()
    return total_loss / (len(eval_data) - 1)


best_val_loss = float("inf")
with TemporaryDirectory() as folder:
    best_model_path = os.path.join(folder, "best_model_params.pt")
    for epoch in range(1, 5):
        started = time.time()
        train(model, epoch)
        val_loss = evaluate(model, val_data)
        print(
            f"| end of epoch {epoch:3d} | {time.time() - started:5.2f}s | val loss {val_loss:5.2f} | ppl {math.exp(val_loss):8.2f}"
        )
        if val_loss < best_val_loss:
            best_val_loss = val_loss
            torch.save(model.state_dict(), best_model_path)
        scheduler.step()
    model.load_state_dict(torch.load(best_model_path))

test_loss = evaluate(model, test_data)
print(f"| test loss {test_loss:5.2f} | test ppl {math.exp(test_loss):8.2f}")


def compose(prompt: list[str], n_chords: int = 24, temperature: float = 0.9) -> str:
    model.eval()
    ids = torch.tensor([VOCAB[c] for c in prompt]).unsqueeze(1)
    with torch.no_grad():
        for _ in range(n_chords):
            logits = model(ids[-bptt:])[-1, 0]
            weights = logits.div(temperature).exp()
            chosen = torch.multinomial(weights, 1)
            ids = torch.cat([ids, chosen.unsqueeze(1)], dim=0)
    return " ".join(CHORDS[i] for i in ids.squeeze(1).tolist())


print(compose(["I", "IV", "|"]))
