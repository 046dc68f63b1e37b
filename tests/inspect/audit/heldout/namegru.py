# Names, letter by letter, with a GRU; time comes first, as torch has it.  The category of the name is told at each step.
import badak as torch
import badak.nn as nn

n_letters = 59  # one for the end
n_categories = 18


class NameGenerator(nn.Module):
    def __init__(self, hidden_size=36, emb=16, cat_emb=8, n_layers=2, dropout=0.1):
        super(NameGenerator, self).__init__()
        self.hidden_size = hidden_size
        self.n_layers = n_layers

        self.letters = nn.Embedding(n_letters, emb)
        self.categories = nn.Embedding(n_categories, cat_emb)
        self.gru = nn.GRU(emb + cat_emb, hidden_size, n_layers, dropout=dropout)
        self.o2o = nn.Linear(hidden_size + cat_emb, n_letters)
        self.dropout = nn.Dropout(dropout)
        self.softmax = nn.LogSoftmax(dim=2)

    def forward(self, category, line, hidden=None):
        # line: (T, B), category: (B,)
        T, B = line.size()
        if hidden is None:
            hidden = self.init_hidden(B)
        cat = self.categories(category).unsqueeze(0).expand(T, -1, -1)
        x = torch.cat((cat, self.letters(line)), dim=2)
        output, hidden = self.gru(x, hidden)
        output = self.o2o(torch.cat((output, cat), dim=2))
        output = self.dropout(output)
        return self.softmax(output), hidden

    def init_hidden(self, batch_size):
        return torch.zeros(self.n_layers, batch_size, self.hidden_size)


def build():
    names = torch.randint(0, n_letters, (11, 5))
    category = torch.randint(0, n_categories, (5,))
    line, target = names[:-1], names[1:]
    rnn = NameGenerator()
    criterion = nn.NLLLoss()
    optimizer = torch.optim.Adam(rnn.parameters(), lr=0.0005)

    def loss(out):
        output, _ = out
        return criterion(output.view(-1, n_letters), target.reshape(-1))

    return {"model": rnn, "batch": (category, line), "loss": loss, "optimizer": optimizer}
