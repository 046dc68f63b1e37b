"""Sequence to sequence with two LSTMs: the last state of the reader starts the writer. Reversed sources, packed, teacher forcing at once."""

import badak as torch
from badak import nn
from badak.nn.utils.rnn import pack_padded_sequence

PAD = 0


class Encoder(nn.Module):
    def __init__(self, input_dim, emb_dim, hid_dim, n_layers, dropout):
        super().__init__()
        self.hid_dim = hid_dim
        self.n_layers = n_layers
        self.embedding = nn.Embedding(input_dim, emb_dim, padding_idx=PAD)
        self.rnn = nn.LSTM(emb_dim, hid_dim, n_layers, dropout=dropout, batch_first=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, src, src_len):
        # src = [batch size, src len]
        embedded = self.dropout(self.embedding(src))
        packed = pack_padded_sequence(embedded, src_len, batch_first=True, enforce_sorted=False)
        _, (hidden, cell) = self.rnn(packed)
        # hidden = [n layers, batch size, hid dim]
        return hidden, cell


class Decoder(nn.Module):
    def __init__(self, output_dim, emb_dim, hid_dim, n_layers, dropout):
        super().__init__()
        self.output_dim = output_dim
        self.embedding = nn.Embedding(output_dim, emb_dim, padding_idx=PAD)
        self.rnn = nn.LSTM(emb_dim, hid_dim, n_layers, dropout=dropout, batch_first=True)
        self.fc_out = nn.Linear(hid_dim, output_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, trg, hidden, cell):
        embedded = self.dropout(self.embedding(trg))
        output, (hidden, cell) = self.rnn(embedded, (hidden, cell))
        prediction = self.fc_out(self.dropout(output))
        return prediction


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        assert encoder.hid_dim == decoder.rnn.hidden_size

    def forward(self, src, src_len, trg):
        hidden, cell = self.encoder(src, src_len)
        outputs = self.decoder(trg[:, :-1], hidden, cell)
        return outputs


def init_weights(m):
    for param in m.parameters():
        nn.init.uniform_(param.data, -0.08, 0.08)


def build():
    enc = Encoder(66, 24, 40, 2, 0.3)
    dec = Decoder(58, 24, 40, 2, 0.3)
    model = Seq2Seq(enc, dec)
    model.apply(init_weights)
    src_len = torch.tensor([10, 7, 9, 5])
    src = torch.randint(3, 66, (4, 10)) * (torch.arange(10)[None] < src_len[:, None]).long()
    trg = torch.randint(3, 58, (4, 9))
    trg[:, 0] = 1
    for i, n in enumerate((9, 6, 8, 7)):
        trg[i, n - 1] = 2
        trg[i, n:] = PAD
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    optimizer = torch.optim.Adam(model.parameters())

    def loss(output):
        return criterion(output.reshape(-1, output.shape[-1]), trg[:, 1:].reshape(-1))

    return {"model": model, "batch": (src, src_len, trg), "loss": loss, "optimizer": optimizer}
