import numpy as np
import torch
from torch.utils.data import Dataset


class PotDataset(Dataset):
    def __init__(self, n, side=16, seed=0):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[:side, :side]
        self.images = []
        for _ in range(n):
            cx, cy, r = *rng.uniform(6, 9, 2), rng.uniform(3, 5)
            body = (xx - cx) ** 2 + (yy - cy) ** 2 < r**2
            spout = (np.abs(yy - cy + (xx - cx - r) * rng.uniform(0.3, 1)) < 1) & (xx > cx) & (xx < cx + r + 3)
            lid = (np.abs(xx - cx) < 1) & (yy < cy - r + 1) & (yy > cy - r - 2)
            image = (body | spout | lid) * 1.0
            self.images.append(np.clip(image + rng.normal(0, 0.05, image.shape), 0, 1))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return torch.tensor(self.images[i], dtype=torch.float32)
