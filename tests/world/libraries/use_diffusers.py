"A small use of diffusers, printed: the same with PyTorch as with badak."

import diffusers as d
import torch
from diffusers.training_utils import EMAModel

torch.manual_seed(0)


def show(*values):
    for x in values:
        print([round(float(v), 4) + 0.0 for v in x.detach().double().flatten()[:8].tolist()] if isinstance(x, torch.Tensor) else x)


u = d.UNet2DModel(
    sample_size=8,
    in_channels=1,
    out_channels=1,
    block_out_channels=(8, 16),
    layers_per_block=1,
    norm_num_groups=4,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
)
o = torch.optim.AdamW(u.parameters(), 0.001)
s = d.DDPMScheduler(num_train_timesteps=10)
for _i in range(2):
    x = torch.randn(2, 1, 8, 8)
    n = torch.randn_like(x)
    t = torch.tensor([3, 7])
    l = torch.nn.functional.mse_loss(u(s.add_noise(x, n, t), t).sample, n)
    o.zero_grad()
    l.backward()
    o.step()
    show(l)
e = EMAModel(u.parameters(), decay=0.9)
e.step(u.parameters())
show(e.shadow_params[0])
v = d.AutoencoderKL(in_channels=1, out_channels=1, block_out_channels=(8,), norm_num_groups=4, latent_channels=2)
show(v(torch.randn(1, 1, 8, 8)).sample)
for S in (
    d.DDIMScheduler,
    d.EulerDiscreteScheduler,
    d.DPMSolverMultistepScheduler,
    d.PNDMScheduler,
    d.UniPCMultistepScheduler,
    d.HeunDiscreteScheduler,
    d.LMSDiscreteScheduler,
):
    s = S()
    s.set_timesteps(4)
    x = torch.ones(1, 1, 4, 4)
    x = s.step(x * 0.1, s.timesteps[0], x).prev_sample
    show(S.__name__, x)
