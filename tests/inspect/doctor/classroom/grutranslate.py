"""Translation by a GRU with attention and packed padding, as a known course has it: train(), evaluate(), a main loop."""

import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

SEED = 1234
random.seed(SEED)
torch.manual_seed(SEED)
PAD, SOS, EOS = 0, 1, 2
SRC_VOCAB, TRG_VOCAB = 30, 34
mapping = torch.randperm(27, generator=torch.Generator().manual_seed(3)) + 5


def example():
    n = random.randint(3, 9)
    src = [random.randint(3, 29) for _ in range(n)]
    trg = [int(mapping[s - 3]) for s in reversed(src)]
    return [SOS] + src + [EOS], [SOS] + trg + [EOS]


class BucketIterator:
    """Batches of similar length, longest first, each (len, batch)."""

    def __init__(self, examples, batch_size):
        self.examples, self.batch_size = examples, batch_size

    def __len__(self):
        return len(self.examples) // self.batch_size

    def __iter__(self):
        random.shuffle(self.examples)
        for i in range(len(self)):
            rows = self.examples[i * self.batch_size : (i + 1) * self.batch_size]
            rows = sorted(rows, key=lambda r: len(r[0]), reverse=True)
            lengths = torch.tensor([len(r[0]) for r in rows])
            src = nn.utils.rnn.pad_sequence([torch.tensor(r[0]) for r in rows], padding_value=PAD)
            trg = nn.utils.rnn.pad_sequence([torch.tensor(r[1]) for r in rows], padding_value=PAD)
            yield src, lengths, trg


class Encoder(nn.Module):
    def __init__(self, input_dim, emb_dim, enc_hid_dim, dec_hid_dim, dropout):
        super().__init__()
        self.embedding = nn.Embedding(input_dim, emb_dim)
        self.rnn = nn.GRU(emb_dim, enc_hid_dim, bidirectional=True)
        self.fc = nn.Linear(enc_hid_dim * 2, dec_hid_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, src, src_len):
        embedded = self.dropout(self.embedding(src))
        packed = nn.utils.rnn.pack_padded_sequence(embedded, src_len)
        packed_outputs, hidden = self.rnn(packed)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(packed_outputs)
        hidden = torch.tanh(self.fc(torch.cat((hidden[-2], hidden[-1]), dim=1)))
        return outputs, hidden


class Attention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim):
        super().__init__()
        self.attn = nn.Linear(enc_hid_dim * 2 + dec_hid_dim, dec_hid_dim)
        self.v = nn.Linear(dec_hid_dim, 1, bias=False)

    def forward(self, hidden, encoder_outputs, mask):
        src_len = encoder_outputs.shape[0]
        hidden = hidden.unsqueeze(1).repeat(1, src_len, 1)
        encoder_outputs = encoder_outputs.permute(1, 0, 2)
        energy = torch.tanh(self.attn(torch.cat((hidden, encoder_outputs), dim=2)))
        attention = self.v(energy).squeeze(2)
        attention = attention.masked_fill(mask == 0, -1e10)
        return F.softmax(attention, dim=1)


class Decoder(nn.Module):
    def __init__(self, output_dim, emb_dim, enc_hid_dim, dec_hid_dim, dropout, attention):
        super().__init__()
        self.output_dim = output_dim
        self.attention = attention
        self.embedding = nn.Embedding(output_dim, emb_dim)
        self.rnn = nn.GRU(enc_hid_dim * 2 + emb_dim, dec_hid_dim)
        self.fc_out = nn.Linear(enc_hid_dim * 2 + dec_hid_dim + emb_dim, output_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, input, hidden, encoder_outputs, mask):
        embedded = self.dropout(self.embedding(input.unsqueeze(0)))
        a = self.attention(hidden, encoder_outputs, mask).unsqueeze(1)
        weighted = torch.bmm(a, encoder_outputs.permute(1, 0, 2)).permute(1, 0, 2)
        output, hidden = self.rnn(torch.cat((embedded, weighted), dim=2), hidden.unsqueeze(0))
        prediction = self.fc_out(torch.cat((output.squeeze(0), weighted.squeeze(0), embedded.squeeze(0)), dim=1))
        return prediction, hidden.squeeze(0)


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder, src_pad_idx):
        super().__init__()
        self.encoder, self.decoder, self.src_pad_idx = encoder, decoder, src_pad_idx

    def create_mask(self, src):
        return (src != self.src_pad_idx).permute(1, 0)

    def forward(self, src, src_len, trg, teacher_forcing_ratio=0.5):
        trg_len, batch_size = trg.shape
        outputs = torch.zeros(trg_len, batch_size, self.decoder.output_dim)
        encoder_outputs, hidden = self.encoder(src, src_len)
        mask = self.create_mask(src)
        input = trg[0]
        for t in range(1, trg_len):
            output, hidden = self.decoder(input, hidden, encoder_outputs, mask)
            outputs[t] = output
            teacher_force = random.random() < teacher_forcing_ratio
            top1 = output.argmax(1)
            input = trg[t] if teacher_force else top1
        return outputs


def init_weights(m):
    for name, param in m.named_parameters():
        if "weight" in name:
            nn.init.normal_(param.data, mean=0, std=0.05)
        else:
            nn.init.constant_(param.data, 0)


def train(model, iterator, optimizer, criterion, clip):
    model.train()
    epoch_loss = 0
    for src, src_len, trg in iterator:
        optimizer.zero_grad()
        output = model(src, src_len, trg)
        output_dim = output.shape[-1]
        output = output[1:].view(-1, output_dim)
        trg = trg[1:].view(-1)
        loss = criterion(output, trg)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        epoch_loss += loss.item()
    return epoch_loss / len(iterator)


def evaluate(model, iterator, criterion):
    model.eval()
    epoch_loss = 0
    with torch.no_grad():
        for src, src_len, trg in iterator:
            output = model(src, src_len, trg, 0)
            output_dim = output.shape[-1]
            output = output[1:].view(-1, output_dim)
            trg = trg[1:].view(-1)
            loss = criterion(output, trg)
            epoch_loss += loss.item()
    return epoch_loss / len(iterator)


train_iterator = BucketIterator([example() for _ in range(192)], 16)
valid_iterator = BucketIterator([example() for _ in range(48)], 16)

attn = Attention(32, 32)
enc = Encoder(SRC_VOCAB, 24, 32, 32, 0.3)
dec = Decoder(TRG_VOCAB, 24, 32, 32, 0.3, attn)
model = Seq2Seq(enc, dec, PAD)
model.apply(init_weights)
optimizer = optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)

best_valid_loss = float("inf")
for epoch in range(2):
    train_loss = train(model, train_iterator, optimizer, criterion, 1)
    valid_loss = evaluate(model, valid_iterator, criterion)
    if valid_loss < best_valid_loss:
        best_valid_loss = valid_loss
        torch.save(model.state_dict(), "tut4-model.pt")
    print(f"Epoch: {epoch + 1:02} | Train PPL: {math.exp(train_loss):7.3f} | Val. PPL: {math.exp(valid_loss):7.3f}")
