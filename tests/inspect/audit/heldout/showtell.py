"""Captions after Show, Attend and Tell: a CNN grid, an LSTM cell that asks it at each step, captions sorted by length so that fewer rows go on."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class Encoder(nn.Module):
    def __init__(self, encoded_image_size=4, encoder_dim=24):
        super(Encoder, self).__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(16, encoder_dim, 3, stride=2, padding=1), nn.ReLU()
        )
        self.adaptive_pool = nn.AdaptiveAvgPool2d((encoded_image_size, encoded_image_size))

    def forward(self, images):
        out = self.cnn(images)
        out = self.adaptive_pool(out)
        out = out.permute(0, 2, 3, 1)  # (batch_size, size, size, encoder_dim)
        return out


class Attention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super(Attention, self).__init__()
        self.encoder_att = nn.Linear(encoder_dim, attention_dim)
        self.decoder_att = nn.Linear(decoder_dim, attention_dim)
        self.full_att = nn.Linear(attention_dim, 1)
        self.relu = nn.ReLU()
        self.softmax = nn.Softmax(dim=1)

    def forward(self, encoder_out, decoder_hidden):
        att1 = self.encoder_att(encoder_out)  # (batch_size, num_pixels, attention_dim)
        att2 = self.decoder_att(decoder_hidden)  # (batch_size, attention_dim)
        att = self.full_att(self.relu(att1 + att2.unsqueeze(1))).squeeze(2)
        alpha = self.softmax(att)
        attention_weighted_encoding = (encoder_out * alpha.unsqueeze(2)).sum(dim=1)
        return attention_weighted_encoding, alpha


class DecoderWithAttention(nn.Module):
    def __init__(self, attention_dim, embed_dim, decoder_dim, vocab_size, encoder_dim=24, dropout=0.2):
        super(DecoderWithAttention, self).__init__()
        self.vocab_size = vocab_size
        self.attention = Attention(encoder_dim, decoder_dim, attention_dim)
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.dropout = nn.Dropout(p=dropout)
        self.decode_step = nn.LSTMCell(embed_dim + encoder_dim, decoder_dim, bias=True)
        self.init_h = nn.Linear(encoder_dim, decoder_dim)
        self.init_c = nn.Linear(encoder_dim, decoder_dim)
        self.f_beta = nn.Linear(decoder_dim, encoder_dim)
        self.sigmoid = nn.Sigmoid()
        self.fc = nn.Linear(decoder_dim, vocab_size)
        self.embedding.weight.data.uniform_(-0.1, 0.1)

    def init_hidden_state(self, encoder_out):
        mean_encoder_out = encoder_out.mean(dim=1)
        h = self.init_h(mean_encoder_out)
        c = self.init_c(mean_encoder_out)
        return h, c

    def forward(self, encoder_out, encoded_captions, decode_lengths):
        batch_size = encoder_out.size(0)
        encoder_dim = encoder_out.size(-1)
        encoder_out = encoder_out.view(batch_size, -1, encoder_dim)
        embeddings = self.embedding(encoded_captions)
        h, c = self.init_hidden_state(encoder_out)
        predictions = torch.zeros(batch_size, max(decode_lengths), self.vocab_size)
        for t in range(max(decode_lengths)):
            batch_size_t = sum([n > t for n in decode_lengths])
            awe, alpha = self.attention(encoder_out[:batch_size_t], h[:batch_size_t])
            gate = self.sigmoid(self.f_beta(h[:batch_size_t]))
            awe = gate * awe
            h, c = self.decode_step(torch.cat([embeddings[:batch_size_t, t, :], awe], dim=1), (h[:batch_size_t], c[:batch_size_t]))
            preds = self.fc(self.dropout(h))
            predictions[:batch_size_t, t, :] = preds
        return predictions


class Captioner(nn.Module):
    def __init__(self, vocab=75):
        super().__init__()
        self.encoder = Encoder()
        self.decoder = DecoderWithAttention(20, 22, 26, vocab)

    def forward(self, images, captions, caption_lengths):
        decode_lengths = (caption_lengths - 1).tolist()
        return self.decoder(self.encoder(images), captions, decode_lengths)


def build():
    caption_lengths = torch.tensor([10, 9, 7, 6])  # with start and end, longest first
    captions = torch.zeros(4, 10, dtype=torch.long)
    for i, n in enumerate(caption_lengths.tolist()):
        captions[i, :n] = torch.cat([torch.tensor([1]), torch.randint(3, 75, (n - 2,)), torch.tensor([2])])
    images = torch.randn(4, 3, 20, 20)
    model = Captioner()
    targets = captions[:, 1:]

    def loss(predictions):
        return F.cross_entropy(predictions.transpose(1, 2), targets, ignore_index=0)

    optimizer = torch.optim.Adam(model.parameters(), lr=4e-4)
    return {"model": model, "batch": (images, captions, caption_lengths), "loss": loss, "optimizer": optimizer}
