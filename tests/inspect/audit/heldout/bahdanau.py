"""Translation by GRUs with additive attention: a bidirectional encoder, a decoder that is fed the true tokens, one at a time."""

import badak as torch
from badak import nn
from badak.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PAD = 0


class Encoder(nn.Module):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.embedding, self.dropout = nn.Embedding(vocab, emb, padding_idx=PAD), nn.Dropout(0.1)
        self.rnn = nn.GRU(emb, hid, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(2 * hid, hid)

    def forward(self, src):
        lengths = (src != PAD).sum(1)
        packed = pack_padded_sequence(self.dropout(self.embedding(src)), lengths, batch_first=True, enforce_sorted=False)
        packed, hidden = self.rnn(packed)
        outputs, _ = pad_packed_sequence(packed, batch_first=True, total_length=src.shape[1])
        hidden = torch.tanh(self.fc(torch.cat((hidden[-2], hidden[-1]), dim=1)))
        return outputs, hidden


class Attention(nn.Module):
    def __init__(self, hid):
        super().__init__()
        self.attn, self.v = nn.Linear(3 * hid, hid), nn.Linear(hid, 1, bias=False)

    def forward(self, hidden, encoder_outputs, mask):
        S = encoder_outputs.shape[1]
        hidden = hidden.unsqueeze(1).repeat(1, S, 1)
        energy = torch.tanh(self.attn(torch.cat((hidden, encoder_outputs), dim=2)))
        scores = self.v(energy).squeeze(2)
        scores = scores.masked_fill(mask == 0, -1e10)
        return torch.softmax(scores, dim=1)


class Decoder(nn.Module):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.embedding, self.attention = nn.Embedding(vocab, emb), Attention(hid)
        self.rnn = nn.GRU(2 * hid + emb, hid, batch_first=True)
        self.fc_out, self.dropout = nn.Linear(3 * hid + emb, vocab), nn.Dropout(0.1)

    def forward(self, token, hidden, encoder_outputs, mask):
        embedded = self.dropout(self.embedding(token.unsqueeze(1)))
        a = self.attention(hidden, encoder_outputs, mask).unsqueeze(1)
        weighted = torch.bmm(a, encoder_outputs)
        output, hidden = self.rnn(torch.cat((embedded, weighted), dim=2), hidden.unsqueeze(0))
        prediction = self.fc_out(torch.cat((output, weighted, embedded), dim=2).squeeze(1))
        return prediction, hidden.squeeze(0)


class Seq2Seq(nn.Module):
    def __init__(self, src_vocab=41, trg_vocab=38, emb=20, hid=24):
        super().__init__()
        self.encoder, self.decoder = Encoder(src_vocab, emb, hid), Decoder(trg_vocab, emb, hid)

    def forward(self, src, trg):
        encoder_outputs, hidden = self.encoder(src)
        mask, outputs = src != PAD, []
        for t in range(trg.shape[1]):
            token = trg[:, t]
            output, hidden = self.decoder(token, hidden, encoder_outputs, mask)
            outputs.append(output)
        return torch.stack(outputs, dim=1)


def build():
    src = torch.randint(1, 41, (4, 9))
    src[1, 6:], src[3, 4:] = PAD, PAD
    return {"model": Seq2Seq(), "batch": (src, torch.randint(1, 38, (4, 7)))}
