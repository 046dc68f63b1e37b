# Lane segmentation (3 classes: background, road, lane marking), encoder-decoder with skip, CE + dice loss
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import PolynomialLR
from torch.utils.data import DataLoader, Dataset

NUM_CLASSES = 3
IMG_MEAN, IMG_STD = 0.42, 0.27


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class RoadScenes(Dataset):
    def __init__(self, n, seed, train):
        rs = np.random.RandomState(seed)
        self.train = train
        self.images, self.masks = [], []
        for _ in range(n):
            mask = np.zeros((24, 32), dtype=np.int64)
            center, slope, width = rs.uniform(10, 22), rs.uniform(-0.25, 0.25), rs.uniform(4, 7)
            for row in range(6, 24):
                mid = center + slope * (24 - row)
                half = width * (0.35 + 0.65 * (row - 6) / 18)
                cols = np.arange(32)
                mask[row, np.abs(cols - mid) < half] = 1
                if row % 4 < 2:
                    mask[row, np.abs(cols - mid) < 0.9] = 2
            shade = np.array([[0.2, 0.55, 0.25], [0.4, 0.4, 0.42], [0.9, 0.9, 0.8]]) + rs.uniform(-0.08, 0.08, (3, 3))
            image = shade[mask] + rs.normal(0, 0.1, (24, 32, 3))
            self.images.append(np.clip(image, 0, 1).astype(np.float32))
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image, mask = self.images[i], self.masks[i]
        if self.train and random.random() < 0.5:
            image, mask = image[:, ::-1], mask[:, ::-1]
        image = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)))
        mask = torch.from_numpy(np.ascontiguousarray(mask))
        return (image - IMG_MEAN) / IMG_STD, mask


def conv_bn(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class SegNet(nn.Module):
    def __init__(self, n_classes=NUM_CLASSES, width=12):
        super().__init__()
        self.enc1 = conv_bn(3, width)
        self.enc2 = conv_bn(width, 2 * width)
        self.bottleneck = conv_bn(2 * width, 2 * width)
        self.dec1 = conv_bn(4 * width, width)
        self.drop = nn.Dropout2d(0.1)
        self.head = nn.Conv2d(2 * width, n_classes, 1)

    def forward(self, x):
        e1 = self.enc1(x)
        e2 = self.enc2(F.max_pool2d(e1, 2))
        b = self.bottleneck(F.max_pool2d(e2, 2))
        d = self.dec1(torch.cat([F.interpolate(b, scale_factor=2), e2], dim=1))
        d = torch.cat([F.interpolate(d, scale_factor=2), e1], dim=1)
        return self.head(self.drop(d))


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, logits, target):
        probs = logits.softmax(dim=1)
        onehot = F.one_hot(target, NUM_CLASSES).permute(0, 3, 1, 2).float()
        inter = (probs * onehot).sum(dim=(0, 2, 3))
        union = probs.sum(dim=(0, 2, 3)) + onehot.sum(dim=(0, 2, 3))
        dice = (2 * inter + self.smooth) / (union + self.smooth)
        return 1 - dice.mean()


def confusion_matrix(pred, target):
    index = target.flatten() * NUM_CLASSES + pred.flatten()
    return torch.bincount(index, minlength=NUM_CLASSES**2).reshape(NUM_CLASSES, NUM_CLASSES)


def mean_iou(cm):
    inter = cm.diag().float()
    union = cm.sum(0) + cm.sum(1) - cm.diag()
    return (inter / union.clamp(min=1)).mean().item()


def validate(model, loader):
    model.eval()
    cm = torch.zeros(NUM_CLASSES, NUM_CLASSES, dtype=torch.long)
    with torch.no_grad():
        for images, masks in loader:
            pred = model(images).argmax(dim=1)
            cm += confusion_matrix(pred, masks)
    return mean_iou(cm), cm.diag().sum().item() / cm.sum().item()


def train(model, train_loader, val_loader, epochs):
    ce = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.0, 3.0]))
    dice = DiceLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.08, momentum=0.9, weight_decay=1e-4)
    scheduler = PolynomialLR(optimizer, total_iters=epochs * len(train_loader), power=0.9)
    best = 0.0
    for epoch in range(epochs):
        model.train()
        meter = []
        for images, masks in train_loader:
            logits = model(images)
            loss = ce(logits, masks) + 0.5 * dice(logits, masks)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            scheduler.step()
            meter.append(loss.item())
        miou, pixel_acc = validate(model, val_loader)
        print(f"[{epoch + 1:02d}] loss {np.mean(meter):.4f} mIoU {miou:.4f} acc {pixel_acc:.4f}")
        if miou > best:
            best = miou
            torch.save(model.state_dict(), "best_seg.pth")
    return best


if __name__ == "__main__":
    set_seed(123)
    train_loader = DataLoader(RoadScenes(160, seed=0, train=True), batch_size=16, shuffle=True)
    val_loader = DataLoader(RoadScenes(40, seed=1, train=False), batch_size=20)
    test_loader = DataLoader(RoadScenes(60, seed=2, train=False), batch_size=20)
    net = SegNet()
    best = train(net, train_loader, val_loader, epochs=4)
    net.load_state_dict(torch.load("best_seg.pth"))
    print(f"best val mIoU {best:.4f}, test mIoU {validate(net, test_loader)[0]:.4f}")
