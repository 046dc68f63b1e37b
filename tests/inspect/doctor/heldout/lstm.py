"""Characters by an LSTM whose state is carried from stretch to stretch: (time, batch), log_softmax and nll_loss."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
VOCAB, STRETCH = 29, 10
stream = (torch.cumsum(torch.randint(1, 4, (480, 6)), dim=0)) % VOCAB


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 24)
        self.drop = nn.Dropout(0.2)
        self.rnn = nn.LSTM(24, 40, num_layers=2, dropout=0.2)
        self.decoder = nn.Linear(40, VOCAB)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.drop(self.embed(x)), hidden)
        logits = self.decoder(self.drop(out))
        return F.log_softmax(logits.view(-1, VOCAB), dim=1), hidden

    def start(self, n):
        return torch.zeros(2, n, 40), torch.zeros(2, n, 40)


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.8)
hidden = model.start(6)
model.train()
for number, i in enumerate(range(0, 440, STRETCH)):
    data, target = stream[i : i + STRETCH], stream[i + 1 : i + 1 + STRETCH].reshape(-1)
    hidden = tuple(h.detach() for h in hidden)
    model.zero_grad()
    output, hidden = model(data, hidden)
    loss = F.nll_loss(output, target)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    if number % 8 == 7:
        model.eval()
        with torch.no_grad():
            valid, _ = model(stream[440:450], model.start(6))
            print(number, F.nll_loss(valid, stream[441:451].reshape(-1)).item())
        model.train()
