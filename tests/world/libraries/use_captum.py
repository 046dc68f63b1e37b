"A small use of captum, printed: the same with PyTorch as with badak."

import torch
from captum.attr import (
    DeepLift,
    FeatureAblation,
    GuidedBackprop,
    IntegratedGradients,
    LayerConductance,
    LayerGradCam,
    Occlusion,
    Saliency,
)

torch.manual_seed(0)


def show(*values):
    for x in values:
        print([round(float(v), 4) + 0.0 for v in x.detach().double().flatten()[:8].tolist()] if isinstance(x, torch.Tensor) else x)


m = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(2 * 9, 3))
x = torch.randn(2, 1, 5, 5)
show(IntegratedGradients(m).attribute(x, target=1, n_steps=5))
show(Saliency(m).attribute(x, target=0))
show(LayerGradCam(m, m[0]).attribute(x, target=2))
show(Occlusion(m).attribute(x, target=1, sliding_window_shapes=(1, 2, 2)))
show(DeepLift(m).attribute(x, target=1))
show(LayerConductance(m, m[1]).attribute(x, target=1))
show(GuidedBackprop(m).attribute(x, target=1))
show(FeatureAblation(m).attribute(x, target=1))
