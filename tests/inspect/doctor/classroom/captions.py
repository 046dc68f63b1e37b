"""Captions of pictures: a small CNN, an LSTM that is given the words so far, targets packed as the outputs are."""

import argparse

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader, Dataset

COLORS, SHAPES = ["red", "green", "blue"], ["square", "bar", "dot"]
WORDS = ["<pad>", "<start>", "<end>", "a", "the", "small", "big", "there", "is", *COLORS, *SHAPES]
IDX = {w: i for i, w in enumerate(WORDS)}


class CaptionDataset(Dataset):
    def __init__(self, n, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.items = [self.make() for _ in range(n)]

    def make(self):
        def draw(k):
            return int(torch.randint(k, (1,), generator=self.g))

        color, shape, big, style = draw(3), draw(3), draw(2), draw(2)
        image = 0.1 * torch.randn(3, 16, 16, generator=self.g)
        size = 7 if big else 4
        h, w = {0: (size, size), 1: (size, 2), 2: (2, 2)}[shape]
        image[color, 4 : 4 + h, 4 : 4 + w] += 1.0
        words = [["small", "big"][big], COLORS[color], SHAPES[shape]]
        words = ["a", *words] if style else ["there", "is", "a", *words]
        return image, torch.tensor([IDX["<start>"], *[IDX[w] for w in words], IDX["<end>"]])

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def collate_fn(data):
    data.sort(key=lambda x: len(x[1]), reverse=True)
    images, captions = zip(*data)
    images = torch.stack(images, 0)
    lengths = [len(cap) for cap in captions]
    targets = torch.zeros(len(captions), max(lengths)).long()
    for i, cap in enumerate(captions):
        end = lengths[i]
        targets[i, :end] = cap[:end]
    return images, targets, lengths


class EncoderCNN(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU()
        )
        self.linear = nn.Linear(16 * 4 * 4, embed_size)
        self.bn = nn.BatchNorm1d(embed_size, momentum=0.01)

    def forward(self, images):
        features = self.conv(images)
        features = features.reshape(features.size(0), -1)
        return self.bn(self.linear(features))


class DecoderRNN(nn.Module):
    def __init__(self, embed_size, hidden_size, vocab_size, num_layers=1):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, embed_size)
        self.lstm = nn.LSTM(embed_size, hidden_size, num_layers, batch_first=True)
        self.linear = nn.Linear(hidden_size, vocab_size)

    def forward(self, features, captions, lengths):
        embeddings = self.embed(captions)
        embeddings = torch.cat((features.unsqueeze(1), embeddings), 1)
        packed = pack_padded_sequence(embeddings, lengths, batch_first=True)
        hiddens, _ = self.lstm(packed)
        return self.linear(hiddens[0])


def main(args):
    torch.manual_seed(0)
    data_loader = DataLoader(CaptionDataset(480, 0), batch_size=args.batch_size, shuffle=True, collate_fn=collate_fn)
    val_loader = DataLoader(CaptionDataset(64, 1), batch_size=args.batch_size, collate_fn=collate_fn)
    encoder = EncoderCNN(args.embed_size)
    decoder = DecoderRNN(args.embed_size, args.hidden_size, len(WORDS))
    criterion = nn.CrossEntropyLoss()
    params = list(decoder.parameters()) + list(encoder.parameters())
    optimizer = torch.optim.Adam(params, lr=args.learning_rate)
    total_step = len(data_loader)
    for epoch in range(args.num_epochs):
        encoder.train()
        decoder.train()
        for i, (images, captions, lengths) in enumerate(data_loader):
            targets = pack_padded_sequence(captions, lengths, batch_first=True)[0]
            features = encoder(images)
            outputs = decoder(features, captions, lengths)
            loss = criterion(outputs, targets)
            decoder.zero_grad()
            encoder.zero_grad()
            loss.backward()
            optimizer.step()
            if i % args.log_step == 0:
                print(f"Epoch [{epoch}/{args.num_epochs}], Step [{i}/{total_step}], Loss: {loss.item():.4f}")
        encoder.eval()
        decoder.eval()
        val_loss = 0.0
        with torch.no_grad():
            for images, captions, lengths in val_loader:
                targets = pack_padded_sequence(captions, lengths, batch_first=True)[0]
                val_loss += criterion(decoder(encoder(images), captions, lengths), targets).item()
        print(f"val loss {val_loss / len(val_loader):.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--log_step", type=int, default=5)
    parser.add_argument("--embed_size", type=int, default=24)
    parser.add_argument("--hidden_size", type=int, default=32)
    parser.add_argument("--num_epochs", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--learning_rate", type=float, default=0.004)
    main(parser.parse_args())
