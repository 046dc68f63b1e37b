"""Numbers in words turned into digits and back: GRU encoder, additive attention, GRU decoder with teacher forcing."""

import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

PAD, BOS, EOS = 0, 1, 2
N_IN, N_OUT, HID = 23, 23, 40
random.seed(11)
torch.manual_seed(11)


def make_pair():
    length = random.randint(3, 8)
    source = [random.randint(3, N_IN - 1) for _ in range(length)]
    target = [(token - 3 + 5) % 20 + 3 for token in reversed(source)]
    return torch.tensor(source + [EOS]), torch.tensor([BOS] + target + [EOS])


def batchify(pairs):
    src = pad_sequence([p[0] for p in pairs], batch_first=True, padding_value=PAD)
    tgt = pad_sequence([p[1] for p in pairs], batch_first=True, padding_value=PAD)
    return src, tgt


class EncoderRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(N_IN, HID, padding_idx=PAD)
        self.gru = nn.GRU(HID, HID, batch_first=True)
        self.dropout = nn.Dropout(0.1)

    def forward(self, src):
        return self.gru(self.dropout(self.embedding(src)))


class BahdanauAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.Wa, self.Ua, self.Va = nn.Linear(HID, HID), nn.Linear(HID, HID), nn.Linear(HID, 1)

    def forward(self, query, keys, mask):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(2)
        scores = scores.masked_fill(mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1).unsqueeze(1)
        return torch.bmm(weights, keys), weights


class AttnDecoderRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(N_OUT, HID)
        self.attention = BahdanauAttention()
        self.gru = nn.GRU(2 * HID, HID, batch_first=True)
        self.out = nn.Linear(HID, N_OUT)
        self.dropout = nn.Dropout(0.1)

    def forward(self, encoder_outputs, hidden, mask, target=None, steps=10):
        token = torch.full((encoder_outputs.size(0), 1), BOS, dtype=torch.long)
        outputs = []
        steps = steps if target is None else target.size(1) - 1
        for i in range(steps):
            logits, hidden = self.forward_step(token, hidden, encoder_outputs, mask)
            outputs.append(logits)
            if target is not None:
                token = target[:, i + 1].unsqueeze(1)
            else:
                token = logits.argmax(dim=-1).detach()
        return torch.cat(outputs, dim=1), hidden

    def forward_step(self, token, hidden, encoder_outputs, mask):
        embedded = self.dropout(self.embedding(token))
        query = hidden.permute(1, 0, 2)
        context, _ = self.attention(query, encoder_outputs, mask)
        output, hidden = self.gru(torch.cat((embedded, context), dim=2), hidden)
        return self.out(output), hidden


def train_epoch(data, encoder, decoder, enc_opt, dec_opt, criterion, batch_size=32):
    total_loss = 0
    for start in range(0, len(data), batch_size):
        src, tgt = batchify(data[start : start + batch_size])
        enc_opt.zero_grad()
        dec_opt.zero_grad()
        encoder_outputs, encoder_hidden = encoder(src)
        logits, _ = decoder(encoder_outputs, encoder_hidden, src == PAD, tgt)
        loss = criterion(logits.reshape(-1, N_OUT), tgt[:, 1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*encoder.parameters(), *decoder.parameters()], 1.0)
        enc_opt.step()
        dec_opt.step()
        total_loss += loss.item()
    return total_loss / (len(data) // batch_size)


def exact_match(data, encoder, decoder):
    encoder.eval()
    decoder.eval()
    src, tgt = batchify(data)
    with torch.no_grad():
        encoder_outputs, encoder_hidden = encoder(src)
        logits, _ = decoder(encoder_outputs, encoder_hidden, src == PAD, steps=tgt.size(1) - 1)
    guess, wanted = logits.argmax(dim=-1), tgt[:, 1:]
    right = ((guess == wanted) | (wanted == PAD)).all(dim=1)
    encoder.train()
    decoder.train()
    return right.float().mean().item()


train_pairs = [make_pair() for _ in range(960)]
test_pairs = [make_pair() for _ in range(64)]
encoder, decoder = EncoderRNN(), AttnDecoderRNN()
enc_opt = torch.optim.Adam(encoder.parameters(), lr=5e-3)
dec_opt = torch.optim.Adam(decoder.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
for epoch in range(6):
    random.shuffle(train_pairs)
    loss = train_epoch(train_pairs, encoder, decoder, enc_opt, dec_opt, criterion)
    print(f"epoch {epoch} loss {loss:.3f} exact {exact_match(test_pairs, encoder, decoder):.3f}")
