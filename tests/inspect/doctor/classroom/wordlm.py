"""The language model of the PyTorch tutorial: texts stand in columns (T, B), positions are (T, 1, D)."""

import math

import torch
from torch import nn
from torch.nn import TransformerEncoder, TransformerEncoderLayer

torch.manual_seed(23)
ntokens, emsize, bptt = 40, 32, 10


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=64):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x = x + self.pe[: x.size(0)]
        return self.dropout(x)


class TransformerModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.pos_encoder = PositionalEncoding(emsize)
        self.transformer_encoder = TransformerEncoder(TransformerEncoderLayer(emsize, 2, 64, 0.1), 2)
        self.encoder = nn.Embedding(ntokens, emsize)
        self.decoder = nn.Linear(emsize, ntokens)
        self.init_weights()

    def init_weights(self):
        self.encoder.weight.data.uniform_(-0.1, 0.1)
        self.decoder.bias.data.zero_()
        self.decoder.weight.data.uniform_(-0.1, 0.1)

    def forward(self, src, src_mask):
        src = self.encoder(src) * math.sqrt(emsize)
        src = self.pos_encoder(src)
        return self.decoder(self.transformer_encoder(src, src_mask))


def batchify(data, bsz):
    n = data.size(0) // bsz
    return data[: n * bsz].view(bsz, n).t().contiguous()


def get_batch(source, i):
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i : i + seq_len], source[i + 1 : i + 1 + seq_len].reshape(-1)


walk = torch.cumsum(torch.randint(1, 4, (3000,)), 0) % ntokens
train_data, val_data = batchify(walk[:2600], 8), batchify(walk[2600:], 4)
model = TransformerModel()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.95)


def train():
    model.train()
    total_loss = 0.0
    for batch, i in enumerate(range(0, train_data.size(0) - 1, bptt)):
        data, targets = get_batch(train_data, i)
        mask = nn.Transformer.generate_square_subsequent_mask(data.size(0))
        output = model(data, mask)
        loss = criterion(output.view(-1, ntokens), targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        total_loss += loss.item()
        if batch % 10 == 9:
            print(batch, total_loss / 10)
            total_loss = 0


def evaluate(source):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, bptt):
            data, targets = get_batch(source, i)
            mask = nn.Transformer.generate_square_subsequent_mask(data.size(0))
            output = model(data, mask)
            total += data.size(0) * criterion(output.view(-1, ntokens), targets).item()
    return total / (len(source) - 1)


for epoch in range(2):
    train()
    print(epoch, evaluate(val_data))
    scheduler.step()
