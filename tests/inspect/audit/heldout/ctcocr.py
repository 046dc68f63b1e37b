"""Reading a line of print: convolutions shrink the picture, its columns are the steps of a BiLSTM, CTC compares with the letters."""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class BidirectionalLSTM(nn.Module):
    def __init__(self, nIn, nHidden, nOut):
        super(BidirectionalLSTM, self).__init__()
        self.rnn = nn.LSTM(nIn, nHidden, bidirectional=True)
        self.embedding = nn.Linear(nHidden * 2, nOut)

    def forward(self, input):
        recurrent, _ = self.rnn(input)
        T, b, h = recurrent.size()
        t_rec = recurrent.view(T * b, h)

        output = self.embedding(t_rec)  # [T * b, nOut]
        output = output.view(T, b, -1)

        return output


class CRNN(nn.Module):
    def __init__(self, imgH=16, nc=1, nclass=27, nh=24):
        super(CRNN, self).__init__()
        assert imgH % 16 == 0, "imgH has to be a multiple of 16"

        self.conv1 = nn.Conv2d(nc, 16, 3, 1, 1)
        self.conv2 = nn.Conv2d(16, 24, 3, 1, 1)
        self.bn2 = nn.BatchNorm2d(24)
        self.conv3 = nn.Conv2d(24, 32, 3, 1, 1)
        self.conv4 = nn.Conv2d(32, 32, (2, 1), (2, 1))
        self.drop = nn.Dropout(0.1)
        self.rnn1 = BidirectionalLSTM(32, nh, nh)
        self.rnn2 = BidirectionalLSTM(nh, nh, nclass)

    def forward(self, input):
        # conv features: H / 16, W / 4
        x = F.max_pool2d(F.relu(self.conv1(input)), 2, 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2, 2)
        x = F.max_pool2d(F.relu(self.conv3(x)), (2, 1), (2, 1))
        x = F.relu(self.conv4(x))
        b, c, h, w = x.size()
        assert h == 1, "the height of conv must be 1"
        x = x.squeeze(2)
        x = x.permute(2, 0, 1)  # [w, b, c]

        x = self.drop(self.rnn1(x))
        output = self.rnn2(x)
        return F.log_softmax(output, dim=2)


def build():
    images = torch.rand(5, 1, 16, 48)
    text = torch.randint(1, 27, (5, 4))
    crnn = CRNN()
    criterion = nn.CTCLoss(blank=0, zero_infinity=True)
    optimizer = torch.optim.Adam(crnn.parameters(), lr=1e-3)

    def loss(preds):
        preds_size = torch.full((preds.size(1),), preds.size(0), dtype=torch.long)
        return criterion(preds, text, preds_size, torch.full((5,), 4, dtype=torch.long))

    return {"model": crnn, "batch": images, "loss": loss, "optimizer": optimizer}
