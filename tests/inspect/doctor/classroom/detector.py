"""One object in a picture: is there one, which, and where: three heads, a loss of three terms with weights, and IoU in the test."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(99)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
IMG = 20


def generate(n):
    images = 0.2 * torch.rand(n, 1, IMG, IMG)
    present = (torch.rand(n) < 0.75).float()
    kind = torch.randint(0, 3, (n,))
    boxes = torch.zeros(n, 4)
    for i in range(n):
        if present[i] == 0:
            continue
        w, h = torch.randint(5, 10, (2,)).tolist()
        x, y = torch.randint(0, IMG - w + 1, (1,)).item(), torch.randint(0, IMG - h + 1, (1,)).item()
        patch = images[i, 0, y : y + h, x : x + w]
        if kind[i] == 0:
            patch += 0.8
        elif kind[i] == 1:
            patch[::2] += 0.9
        else:
            patch[:, ::2] += 0.9
        boxes[i] = torch.tensor([(x + w / 2) / IMG, (y + h / 2) / IMG, w / IMG, h / IMG])
    return images, present, kind, boxes


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1),
            nn.BatchNorm2d(12),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1),
            nn.BatchNorm2d(24),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(24 * 5 * 5, 64),
            nn.ReLU(),
        )
        self.objectness = nn.Linear(64, 1)
        self.classifier = nn.Linear(64, 3)
        self.regressor = nn.Linear(64, 4)

    def forward(self, x):
        feat = self.backbone(x)
        return {
            "obj": self.objectness(feat).squeeze(-1),
            "cls": self.classifier(feat),
            "box": torch.sigmoid(self.regressor(feat)),
        }


class DetectionLoss(nn.Module):
    def __init__(self, w_obj=1.0, w_cls=1.0, w_box=5.0):
        super().__init__()
        self.w_obj, self.w_cls, self.w_box = w_obj, w_cls, w_box

    def forward(self, out, present, kind, boxes):
        obj_loss = F.binary_cross_entropy_with_logits(out["obj"], present)
        pos = present.bool()
        cls_loss = F.cross_entropy(out["cls"][pos], kind[pos])
        box_loss = F.smooth_l1_loss(out["box"][pos], boxes[pos])
        total = self.w_obj * obj_loss + self.w_cls * cls_loss + self.w_box * box_loss
        return total, {"obj": obj_loss.item(), "cls": cls_loss.item(), "box": box_loss.item()}


def iou(a, b):
    ax1, ay1, ax2, ay2 = a[:, 0] - a[:, 2] / 2, a[:, 1] - a[:, 3] / 2, a[:, 0] + a[:, 2] / 2, a[:, 1] + a[:, 3] / 2
    bx1, by1, bx2, by2 = b[:, 0] - b[:, 2] / 2, b[:, 1] - b[:, 3] / 2, b[:, 0] + b[:, 2] / 2, b[:, 1] + b[:, 3] / 2
    w = (torch.min(ax2, bx2) - torch.max(ax1, bx1)).clamp(min=0)
    h = (torch.min(ay2, by2) - torch.max(ay1, by1)).clamp(min=0)
    inter = w * h
    return inter / (a[:, 2] * a[:, 3] + b[:, 2] * b[:, 3] - inter)


train_images, train_present, train_kind, train_boxes = generate(400)
test_images, test_present, test_kind, test_boxes = generate(100)
net = Detector().to(device)
criterion = DetectionLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(3):
    net.train()
    order = torch.randperm(len(train_images))
    log = {"obj": 0.0, "cls": 0.0, "box": 0.0}
    for start in range(0, len(order), 40):
        batch = order[start : start + 40]
        images = train_images[batch].to(device)
        out = net(images)
        loss, parts = criterion(out, train_present[batch], train_kind[batch], train_boxes[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for name in log:
            log[name] += parts[name]
    net.eval()
    with torch.no_grad():
        out = net(test_images.to(device))
        pos = test_present.bool()
        found = ((out["obj"] > 0) == pos).float().mean().item()
        right = (out["cls"][pos].argmax(1) == test_kind[pos]).float().mean().item()
        overlap = iou(out["box"][pos], test_boxes[pos]).mean().item()
    print(epoch, {k: round(v / 10, 3) for k, v in log.items()}, f"found {found:.2f} right {right:.2f} iou {overlap:.2f}")
