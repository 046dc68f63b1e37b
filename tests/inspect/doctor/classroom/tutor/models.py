import torch.nn as nn


class ResBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(channels)
        self.act = nn.ReLU()

    def forward(self, x):
        out = self.act(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.act(out + x)


class DigitNet(nn.Module):
    def __init__(self, width, blocks, dropout):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        self.blocks = nn.Sequential(*[ResBlock(width) for _ in range(blocks)])
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(4 * width, 10)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        x = self.pool(x).flatten(1)
        return self.fc(self.dropout(x))


def make_teacher():
    return DigitNet(16, 2, 0.2)


def make_student():
    return DigitNet(6, 1, 0.0)
