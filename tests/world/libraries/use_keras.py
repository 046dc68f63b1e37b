"A small use of Keras with its torch backend, printed: the same with PyTorch as with badak."

# ruff: noqa: E402
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch

torch.manual_seed(0)


def show(*values):
    for x in values:
        print([round(float(v), 4) + 0.0 for v in x.detach().double().flatten()[:8].tolist()] if isinstance(x, torch.Tensor) else x)


keras.utils.set_random_seed(0)
m = keras.Sequential(
    [keras.layers.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.LayerNormalization(), keras.layers.Dense(1)]
)
m.compile("adam", "mse")
X = np.random.RandomState(0).randn(16, 4).astype("f")
h = m.fit(X, X.sum(1), epochs=2, verbose=0)
show([round(v, 4) for v in h.history["loss"]])
show(torch.tensor(keras.layers.MultiHeadAttention(2, 4)(torch.ones(1, 3, 4), torch.ones(1, 3, 4)).detach().cpu().numpy()))
