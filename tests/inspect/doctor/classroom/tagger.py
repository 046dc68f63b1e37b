"""A BiLSTM gives each word a tag: packed texts, labels of padding are left out."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(17)
V, TAGS = 50, 5


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, 24, padding_idx=0)
        self.lstm = nn.LSTM(24, 20, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(40, TAGS)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.drop(self.emb(ids)), lengths, batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.fc(self.drop(out))


def sentences(n):
    texts = [torch.randint(1, V, (int(torch.randint(4, 12, (1,))),)) for _ in range(n)]
    return [(t, (t + torch.cat([t[:1], t[:-1]])) % TAGS) for t in texts]


def collate(rows):
    ids = pad_sequence([r[0] for r in rows], batch_first=True, padding_value=0)
    tags = pad_sequence([r[1] for r in rows], batch_first=True, padding_value=-1)
    return ids, tags, torch.tensor([len(r[0]) for r in rows])


train, dev = sentences(160), sentences(40)
loader = torch.utils.data.DataLoader(train, batch_size=16, shuffle=True, collate_fn=collate)
dev_loader = torch.utils.data.DataLoader(dev, batch_size=20, collate_fn=collate)
model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss(ignore_index=-1)
for epoch in range(3):
    model.train()
    for ids, tags, lengths in loader:
        logits = model(ids, lengths)
        loss = criterion(logits.reshape(-1, TAGS), tags.reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    right = total = 0
    with torch.no_grad():
        for ids, tags, lengths in dev_loader:
            guess = model(ids, lengths).argmax(-1)
            known = tags != -1
            right += (guess == tags)[known].sum().item()
            total += known.sum().item()
    print(epoch, loss.item(), right / total)
