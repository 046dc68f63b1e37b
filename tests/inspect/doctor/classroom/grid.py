"""Boxes around bright squares: a grid of cells, each with an objectness and a box (as YOLO's first version)."""

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset

SIZE, CELLS = 24, 6
STRIDE = SIZE // CELLS


class Scenes(Dataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 100_000 + i)
        image = 0.1 * torch.randn(1, SIZE, SIZE, generator=g)
        target = torch.zeros(5, CELLS, CELLS)  # object?, x and y within the cell, width, height
        for _ in range(int(torch.randint(1, 4, (1,), generator=g))):
            w, h = torch.randint(3, 8, (2,), generator=g).tolist()
            x0 = int(torch.randint(0, SIZE - w, (1,), generator=g))
            y0 = int(torch.randint(0, SIZE - h, (1,), generator=g))
            image[0, y0 : y0 + h, x0 : x0 + w] += 1.0
            cx, cy = x0 + w / 2, y0 + h / 2
            col, row = int(cx // STRIDE), int(cy // STRIDE)
            target[:, row, col] = torch.tensor([1.0, cx / STRIDE - col, cy / STRIDE - row, w / SIZE, h / SIZE])
        return image, target


class GridNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
        )
        self.object_head = nn.Conv2d(2 * width, 1, 1)
        self.box_head = nn.Conv2d(2 * width, 4, 1)

    def forward(self, image):
        h = self.backbone(image)
        return self.object_head(h).squeeze(1), torch.sigmoid(self.box_head(h))


class DetectionLoss(nn.Module):
    def __init__(self, box_weight=5.0):
        super().__init__()
        self.box_weight = box_weight
        self.bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(6.0))

    def forward(self, scores, boxes, target):
        there = target[:, 0]
        object_loss = self.bce(scores, there)
        error = (boxes - target[:, 1:]).abs().sum(dim=1)
        box_loss = (error * there).sum() / there.sum().clamp(min=1)
        return object_loss + self.box_weight * box_loss, object_loss.item(), box_loss.item()


def corners(boxes):
    rows = torch.arange(CELLS).view(1, CELLS, 1)
    cols = torch.arange(CELLS).view(1, 1, CELLS)
    cx, cy = (cols + boxes[:, 0]) * STRIDE, (rows + boxes[:, 1]) * STRIDE
    w, h = boxes[:, 2] * SIZE, boxes[:, 3] * SIZE
    return torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], dim=1)


def iou(a, b):
    left_top, right_bottom = torch.maximum(a[:, :2], b[:, :2]), torch.minimum(a[:, 2:], b[:, 2:])
    inter = (right_bottom - left_top).clamp(min=0).prod(dim=1)
    area = lambda x: (x[:, 2:] - x[:, :2]).prod(dim=1)
    return inter / (area(a) + area(b) - inter)


def validate(model, loader):
    model.eval()
    overlap = found = boxes_there = 0
    with torch.no_grad():
        for image, target in loader:
            scores, boxes = model(image)
            there = target[:, 0] > 0.5
            overlap += iou(corners(boxes), corners(target[:, 1:]))[there].sum().item()
            found += (scores.sigmoid() > 0.5)[there].sum().item()
            boxes_there += there.sum().item()
    return overlap / boxes_there, found / boxes_there


def main():
    torch.manual_seed(6)
    train_loader = DataLoader(Scenes(640, seed=1), batch_size=32, shuffle=True)
    val_loader = DataLoader(Scenes(96, seed=2), batch_size=48)
    model, criterion = GridNet(), DetectionLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2], gamma=0.1)
    for epoch in range(3):
        model.train()
        totals = [0.0, 0.0]
        for image, target in train_loader:
            scores, boxes = model(image)
            loss, object_part, box_part = criterion(scores, boxes, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            totals[0] += object_part
            totals[1] += box_part
        scheduler.step()
        print(epoch, [t / len(train_loader) for t in totals], validate(model, val_loader))


if __name__ == "__main__":
    main()
