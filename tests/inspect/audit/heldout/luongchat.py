"""A chatbot by two GRUs, as in the tutorial: time first, packed questions, Luong's general attention, one word of the answer at a time."""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F

PAD_token, SOS_token, EOS_token = 0, 1, 2


class EncoderRNN(nn.Module):
    def __init__(self, hidden_size, embedding, n_layers=2, dropout=0.1):
        super(EncoderRNN, self).__init__()
        self.n_layers = n_layers
        self.hidden_size = hidden_size
        self.embedding = embedding
        self.gru = nn.GRU(hidden_size, hidden_size, n_layers, dropout=dropout, bidirectional=True)

    def forward(self, input_seq, input_lengths, hidden=None):
        embedded = self.embedding(input_seq)
        packed = nn.utils.rnn.pack_padded_sequence(embedded, input_lengths)
        outputs, hidden = self.gru(packed, hidden)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(outputs)
        # Sum bidirectional GRU outputs
        outputs = outputs[:, :, : self.hidden_size] + outputs[:, :, self.hidden_size :]
        return outputs, hidden


class Attn(nn.Module):
    def __init__(self, hidden_size):
        super(Attn, self).__init__()
        self.hidden_size = hidden_size
        self.attn = nn.Linear(self.hidden_size, hidden_size)

    def general_score(self, hidden, encoder_output):
        energy = self.attn(encoder_output)
        return torch.sum(hidden * energy, dim=2)

    def forward(self, hidden, encoder_outputs, pad):
        attn_energies = self.general_score(hidden, encoder_outputs)
        attn_energies = attn_energies.t()
        attn_energies = attn_energies.masked_fill(pad, float("-inf"))
        return F.softmax(attn_energies, dim=1).unsqueeze(1)


class LuongAttnDecoderRNN(nn.Module):
    def __init__(self, embedding, hidden_size, output_size, n_layers=2, dropout=0.1):
        super(LuongAttnDecoderRNN, self).__init__()
        self.n_layers = n_layers
        self.embedding = embedding
        self.embedding_dropout = nn.Dropout(dropout)
        self.gru = nn.GRU(hidden_size, hidden_size, n_layers, dropout=dropout)
        self.concat = nn.Linear(hidden_size * 2, hidden_size)
        self.out = nn.Linear(hidden_size, output_size)
        self.attn = Attn(hidden_size)

    def forward(self, input_step, last_hidden, encoder_outputs, pad):
        embedded = self.embedding(input_step)
        embedded = self.embedding_dropout(embedded)
        rnn_output, hidden = self.gru(embedded, last_hidden)
        attn_weights = self.attn(rnn_output, encoder_outputs, pad)
        context = attn_weights.bmm(encoder_outputs.transpose(0, 1))
        rnn_output = rnn_output.squeeze(0)
        context = context.squeeze(1)
        concat_input = torch.cat((rnn_output, context), 1)
        concat_output = torch.tanh(self.concat(concat_input))
        return self.out(concat_output), hidden


class ChatBot(nn.Module):
    def __init__(self, words=90, hidden_size=32, n_layers=2):
        super(ChatBot, self).__init__()
        self.embedding = nn.Embedding(words, hidden_size)
        self.encoder = EncoderRNN(hidden_size, self.embedding, n_layers)
        self.decoder = LuongAttnDecoderRNN(self.embedding, hidden_size, words, n_layers)

    def forward(self, input_variable, lengths, target_variable):
        encoder_outputs, encoder_hidden = self.encoder(input_variable, lengths)
        pad = (input_variable == PAD_token).t()
        decoder_input = torch.full((1, input_variable.size(1)), SOS_token)
        decoder_hidden = encoder_hidden[: self.decoder.n_layers]
        outputs = []
        for t in range(target_variable.size(0)):
            decoder_output, decoder_hidden = self.decoder(decoder_input, decoder_hidden, encoder_outputs, pad)
            outputs.append(decoder_output)
            # Teacher forcing: next input is current target
            decoder_input = target_variable[t].view(1, -1)
        return torch.stack(outputs)


def sentences(lengths):
    rows = torch.zeros(max(lengths), len(lengths), dtype=torch.long)
    for i, n in enumerate(lengths):
        rows[: n - 1, i] = torch.randint(3, 90, (n - 1,))
        rows[n - 1, i] = EOS_token
    return rows


def build():
    lengths = [11, 9, 8, 6, 5]
    question, answer = sentences(lengths), sentences([7, 9, 6, 8, 5])
    model = ChatBot()
    mask = answer != PAD_token

    def maskNLLLoss(inp):
        crossEntropy = -torch.log(torch.gather(F.softmax(inp, dim=2), 2, answer.unsqueeze(2)).squeeze(2))
        return crossEntropy.masked_select(mask).mean()

    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    return {"model": model, "batch": (question, torch.tensor(lengths), answer), "loss": maskNLLLoss, "optimizer": optimizer}
