"""Tiny models of transformers: one entry for each architecture, small enough for a second each.

A program of its own for either side: run by `badak run` it computes with badak, run by Python with torch.
"""

VOCABULARY = 96
_TEXT = dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
_POSITIONS = dict(max_position_embeddings=64)
_IDS = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2)
_VISION = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=16, patch_size=4)
_ENCODER = _TEXT | _POSITIONS | dict(pad_token_id=0)
_DECODER = _TEXT | _POSITIONS | _IDS
_GROUPED = _DECODER | dict(num_key_value_heads=2)
_SEQUENCES = dict(
    vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64,
    decoder_start_token_id=2, forced_eos_token_id=None, **_IDS,
)  # fmt: skip

# name: (class of the configuration, its values, class of the model, what it is fed)
MODELS = {
    "gpt2": ("GPT2Config", dict(vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, **_IDS), "GPT2LMHeadModel", "text"),
    "bert": ("BertConfig", _ENCODER, "BertForMaskedLM", "masked"),
    "llama": ("LlamaConfig", _GROUPED, "LlamaForCausalLM", "text"),
    "qwen2": ("Qwen2Config", _GROUPED, "Qwen2ForCausalLM", "text"),
    "t5": ("T5Config", dict(vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0), "T5ForConditionalGeneration", "pairs"),
    "clip": ("CLIPConfig", dict(text_config=_ENCODER | dict(eos_token_id=2, bos_token_id=1), vision_config=_VISION, projection_dim=16), "CLIPModel", "image and text"),
    "whisper": ("WhisperConfig", _SEQUENCES | dict(num_mel_bins=8, max_source_positions=16, max_target_positions=32, suppress_tokens=None, begin_suppress_tokens=None), "WhisperForConditionalGeneration", "speech"),
    "vit": ("ViTConfig", _VISION | dict(num_labels=3), "ViTForImageClassification", "image"),
    "roberta": ("RobertaConfig", _ENCODER, "RobertaForMaskedLM", "masked"),
    "distilbert": ("DistilBertConfig", dict(vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=64), "DistilBertForMaskedLM", "masked"),
    "electra": ("ElectraConfig", _ENCODER | dict(embedding_size=32), "ElectraForPreTraining", "detected"),
    "deberta": ("DebertaV2Config", _ENCODER | dict(relative_attention=True, position_buckets=8, pos_att_type=["c2p", "p2c"], norm_rel_ebd="layer_norm", share_att_key=True), "DebertaV2ForMaskedLM", "masked"),
    "modernbert": ("ModernBertConfig", _ENCODER | dict(num_hidden_layers=3, global_attn_every_n_layers=3, local_attention=8, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2), "ModernBertForMaskedLM", "masked"),
    "qwen3": ("Qwen3Config", _GROUPED | dict(head_dim=8), "Qwen3ForCausalLM", "text"),
    "mistral": ("MistralConfig", _GROUPED | dict(sliding_window=8), "MistralForCausalLM", "text"),
    "mixtral": ("MixtralConfig", _GROUPED | dict(num_local_experts=4), "MixtralForCausalLM", "text"),
    "gemma": ("GemmaConfig", _GROUPED | dict(head_dim=8), "GemmaForCausalLM", "text"),
    "gemma2": ("Gemma2Config", _GROUPED | dict(head_dim=8, sliding_window=8), "Gemma2ForCausalLM", "text"),
    "gemma3": ("Gemma3TextConfig", _GROUPED | dict(head_dim=8, sliding_window=8), "Gemma3ForCausalLM", "text"),
    "phi": ("PhiConfig", _DECODER, "PhiForCausalLM", "text"),
    "gptneox": ("GPTNeoXConfig", _DECODER, "GPTNeoXForCausalLM", "text"),
    "opt": ("OPTConfig", dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=48, max_position_embeddings=64, word_embed_proj_dim=32, **_IDS), "OPTForCausalLM", "text"),
    "bloom": ("BloomConfig", dict(vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4, **_IDS), "BloomForCausalLM", "text"),
    "falcon": ("FalconConfig", dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, **_IDS), "FalconForCausalLM", "text"),
    "bart": ("BartConfig", _SEQUENCES, "BartForConditionalGeneration", "pairs"),
    "marian": ("MarianConfig", _SEQUENCES, "MarianMTModel", "pairs"),
    "m2m100": ("M2M100Config", _SEQUENCES, "M2M100ForConditionalGeneration", "pairs"),
    "deit": ("DeiTConfig", _VISION | dict(num_labels=3), "DeiTForImageClassification", "image"),
    "dinov2": ("Dinov2Config", dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, mlp_ratio=2, image_size=16, patch_size=4, num_labels=3), "Dinov2ForImageClassification", "image"),
    "swin": ("SwinConfig", dict(image_size=16, patch_size=2, embed_dim=16, depths=[1, 2], num_heads=[2, 4], window_size=2, num_labels=3), "SwinForImageClassification", "image"),
    "siglip": ("SiglipConfig", dict(text_config=_ENCODER, vision_config=_VISION), "SiglipModel", "image and text"),
    "wav2vec2": ("Wav2Vec2Config", dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, conv_dim=(16, 16), conv_stride=(4, 2), conv_kernel=(8, 4), num_feat_extract_layers=2, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, mask_time_prob=0.0, layerdrop=0.0, pad_token_id=0), "Wav2Vec2ForCTC", "wave"),
    "mamba": ("MambaConfig", dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=4, time_step_rank=4, **_IDS), "MambaForCausalLM", "text"),
    "longformer": ("LongformerConfig", _ENCODER | dict(attention_window=8), "LongformerForMaskedLM", "masked"),
    "cohere": ("CohereConfig", _GROUPED, "CohereForCausalLM", "text"),
    "glm": ("GlmConfig", _GROUPED | dict(head_dim=8), "GlmForCausalLM", "text"),
    "olmo": ("OlmoConfig", _GROUPED, "OlmoForCausalLM", "text"),
    "olmo2": ("Olmo2Config", _GROUPED, "Olmo2ForCausalLM", "text"),
    "stablelm": ("StableLmConfig", _GROUPED, "StableLmForCausalLM", "text"),
    "phi3": ("Phi3Config", _GROUPED, "Phi3ForCausalLM", "text"),
    "starcoder2": ("Starcoder2Config", _GROUPED, "Starcoder2ForCausalLM", "text"),
    "granite": ("GraniteConfig", _GROUPED, "GraniteForCausalLM", "text"),
    "smollm3": ("SmolLM3Config", _GROUPED, "SmolLM3ForCausalLM", "text"),
    "qwen3moe": ("Qwen3MoeConfig", _GROUPED | dict(head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16), "Qwen3MoeForCausalLM", "text"),
    "olmoe": ("OlmoeConfig", _GROUPED | dict(num_experts=4, num_experts_per_tok=2), "OlmoeForCausalLM", "text"),
    "gptj": ("GPTJConfig", dict(vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, **_IDS), "GPTJForCausalLM", "text"),
    "gptneo": ("GPTNeoConfig", dict(vocab_size=VOCABULARY, max_position_embeddings=64, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=8, **_IDS), "GPTNeoForCausalLM", "text"),
    "gptbigcode": ("GPTBigCodeConfig", dict(vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, **_IDS), "GPTBigCodeForCausalLM", "text"),
    "codegen": ("CodeGenConfig", dict(vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, **_IDS), "CodeGenForCausalLM", "text"),
    "mpt": ("MptConfig", dict(vocab_size=VOCABULARY, d_model=32, n_heads=4, n_layers=2, max_seq_len=64, **_IDS), "MptForCausalLM", "text"),
    "mamba2": ("Mamba2Config", dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_heads=8, head_dim=8, state_size=8, n_groups=2, chunk_size=8, **_IDS), "Mamba2ForCausalLM", "text"),
    "recurrentgemma": ("RecurrentGemmaConfig", _GROUPED | dict(num_hidden_layers=3, lru_width=32, attention_window_size=8, num_key_value_heads=1), "RecurrentGemmaForCausalLM", "text"),
    "xlnet": ("XLNetConfig", dict(vocab_size=VOCABULARY, d_model=32, n_layer=2, n_head=4, d_inner=48, **_IDS), "XLNetLMHeadModel", "text"),
    "albert": ("AlbertConfig", _ENCODER | dict(embedding_size=16), "AlbertForMaskedLM", "masked"),
    "mobilebert": ("MobileBertConfig", _ENCODER | dict(embedding_size=32, intra_bottleneck_size=32, true_hidden_size=32), "MobileBertForMaskedLM", "masked"),
    "bigbird": ("BigBirdConfig", _ENCODER | dict(attention_type="original_full"), "BigBirdForMaskedLM", "masked"),
    "convbert": ("ConvBertConfig", _ENCODER | dict(embedding_size=32, conv_kernel_size=3), "ConvBertForMaskedLM", "masked"),
    "roformer": ("RoFormerConfig", _ENCODER | dict(embedding_size=32), "RoFormerForMaskedLM", "masked"),
    "fnet": ("FNetConfig", dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, intermediate_size=48, max_position_embeddings=64, pad_token_id=0), "FNetForMaskedLM", "masked"),
    "mpnet": ("MPNetConfig", _ENCODER, "MPNetForMaskedLM", "masked"),
    "squeezebert": ("SqueezeBertConfig", _ENCODER | dict(embedding_size=32), "SqueezeBertForMaskedLM", "masked"),
    "pegasus": ("PegasusConfig", _SEQUENCES, "PegasusForConditionalGeneration", "pairs"),
    "led": ("LEDConfig", {k: v for k, v in _SEQUENCES.items() if k != "max_position_embeddings"} | dict(attention_window=8, max_encoder_position_embeddings=64, max_decoder_position_embeddings=64), "LEDForConditionalGeneration", "pairs"),
    "blenderbot": ("BlenderbotConfig", _SEQUENCES, "BlenderbotForConditionalGeneration", "pairs"),
    "mbart": ("MBartConfig", _SEQUENCES, "MBartForConditionalGeneration", "pairs"),
    "wavlm": ("WavLMConfig", dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, conv_dim=(16, 16), conv_stride=(4, 2), conv_kernel=(8, 4), num_feat_extract_layers=2, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, mask_time_prob=0.0, layerdrop=0.0, pad_token_id=0), "WavLMForCTC", "wave"),
    "beit": ("BeitConfig", _VISION | dict(num_labels=3), "BeitForImageClassification", "image"),
    "convnext": ("ConvNextConfig", dict(hidden_sizes=[8, 16], depths=[1, 2], num_stages=2, patch_size=2, num_labels=3), "ConvNextForImageClassification", "image"),
    "convnextv2": ("ConvNextV2Config", dict(hidden_sizes=[8, 16], depths=[1, 2], num_stages=2, patch_size=2, num_labels=3), "ConvNextV2ForImageClassification", "image"),
    "segformer": ("SegformerConfig", dict(num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[16, 32], patch_sizes=[3, 3], strides=[2, 2], num_attention_heads=[2, 4], mlp_ratios=[2, 2], decoder_hidden_size=32, num_labels=3), "SegformerForImageClassification", "image"),
    "resnet": ("ResNetConfig", dict(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], num_labels=3), "ResNetForImageClassification", "image"),
    "swinv2": ("Swinv2Config", dict(image_size=16, patch_size=2, embed_dim=16, depths=[1, 2], num_heads=[2, 4], window_size=2, num_labels=3), "Swinv2ForImageClassification", "image"),
    "poolformer": ("PoolFormerConfig", dict(depths=[1, 1], hidden_sizes=[8, 16], num_encoder_blocks=2, patch_sizes=[3, 3], strides=[2, 2], padding=[1, 1], num_labels=3), "PoolFormerForImageClassification", "image"),
    "blip": ("BlipConfig", dict(text_config=_ENCODER | dict(encoder_hidden_size=32, bos_token_id=1, eos_token_id=2), vision_config=_VISION, projection_dim=16), "BlipModel", "image and text"),
}  # fmt: skip
WRITES = {"text", "pairs", "speech"}  # what is fed to models that generate


def build(name):
    """The model of that name, its weights drawn from seed 0."""
    import torch
    import transformers

    config, values, model, _ = MODELS[name]
    torch.manual_seed(0)
    return getattr(transformers, model)(getattr(transformers, config)(**values))


def inputs(name):
    """A batch of two for the model of that name, with labels where it learns from labels."""
    import torch

    feed = MODELS[name][3]
    draw = torch.Generator().manual_seed(1)
    ids = torch.randint(3, VOCABULARY, (2, 12), generator=draw)
    mask = torch.ones(2, 12, dtype=torch.long)
    mask[1, 9:] = 0
    if feed == "image":
        return dict(pixel_values=torch.randn(2, 3, 16, 16, generator=draw), labels=torch.tensor([0, 2]))
    if feed == "speech":
        return dict(input_features=torch.randn(2, 8, 32, generator=draw), labels=ids[:, :8])
    if feed == "wave":
        return dict(input_values=torch.randn(2, 400, generator=draw), labels=ids[:, :5])
    given = dict(input_ids=ids, attention_mask=mask)
    if feed == "image and text":
        return given | dict(pixel_values=torch.randn(2, 3, 16, 16, generator=draw), return_loss=True)
    if feed == "pairs":
        return given | dict(labels=torch.randint(3, VOCABULARY, (2, 8), generator=draw))
    if feed == "detected":
        return given | dict(labels=(ids % 3 == 0).long())
    return given | dict(labels=torch.where(mask == 1, ids, -100))
