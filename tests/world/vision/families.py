"""Small models of timm: one of each family, a second or less each. `steps.py` runs them."""

_PATCHES = dict(img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=4, drop_path_rate=0.1)
_DROPS = dict(drop_rate=0.1, drop_path_rate=0.1)

# family: (name of the model or of its class, what is asked of it, size of the images); of larger ones, which normalise a few
# values, the steps are taken in float64: there a step of AdamW makes of a rounding what can be seen
MODELS = {
    "ViT": ("vision_transformer.VisionTransformer", _PATCHES | dict(drop_rate=0.1, qk_norm=True, init_values=0.1), 32),
    "Swin": ("swin_transformer.SwinTransformer", dict(
        img_size=32, patch_size=2, window_size=4, embed_dim=16, depths=(1, 2), num_heads=(2, 4), **_DROPS), 32),
    "BEiT": ("beit.Beit", _PATCHES | dict(init_values=0.1, use_rel_pos_bias=True, use_abs_pos_emb=False), 32),
    "EVA": ("eva.Eva", _PATCHES | dict(use_rot_pos_emb=True, swiglu_mlp=True, mlp_ratio=2, qkv_fused=False), 32),
    "ConvNeXt": ("convnext.ConvNeXt", dict(depths=(1, 1, 2, 1), dims=(8, 16, 16, 24), **_DROPS), 64),
    "ResNet": ("test_resnet", _DROPS, 64),
    "EfficientNet": ("test_efficientnet", _DROPS, 64),
    "MobileNet": ("mobilenetv3_small_050", dict(drop_rate=0.1), 64),
    "DenseNet": ("densenet.DenseNet", dict(growth_rate=8, block_config=(2, 2), drop_rate=0.1), 64),
    "RegNet": ("regnetx_002", _DROPS, 64),
}  # fmt: skip
