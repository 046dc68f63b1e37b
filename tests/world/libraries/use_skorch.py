"A small use of skorch, printed: the same with PyTorch as with badak."

import numpy as np
import skorch
import torch

torch.manual_seed(0)


def show(*values):
    for x in values:
        print([round(float(v), 4) + 0.0 for v in x.detach().double().flatten()[:8].tolist()] if isinstance(x, torch.Tensor) else x)


net = skorch.NeuralNetClassifier(
    torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Softmax(-1)), max_epochs=2, lr=0.1, verbose=0, train_split=None
)
x = np.random.RandomState(0).randn(30, 4).astype("f")
net.fit(x, np.arange(30) % 3)
show(torch.tensor(net.predict_proba(x)))
