"""Small things that the programs in uses/ share: a tokenizer that is trained here, random models, and tensors as numbers."""

import torch
import transformers

SENTENCES = """the cat sat on the mat and looked at the dog
a dog ran over the green field to the river
the river runs to the sea and the sea is blue
she reads a book about the sea every evening
he wrote a letter to his friend in the city
the city is loud and the field is quiet
birds sing in the morning and sleep at night
the friend answered the letter in the evening""".splitlines()
LABELS = [0, 1, 1, 0, 0, 2, 2, 0]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>", "</s>"]


def tokenizer(pairs=False, **options):
    """A byte-pair tokenizer of 160 pieces, with [CLS] and [SEP] around a text where pairs is true."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    made = Tokenizer(models.BPE(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(SENTENCES, trainers.BpeTrainer(vocab_size=160, special_tokens=SPECIAL))
    if pairs:
        ends = [("[CLS]", 2), ("[SEP]", 3)]
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
        )
    named = dict(pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", model_max_length=48, **named, **options
    )


IDS = dict(pad_token_id=0, bos_token_id=5, eos_token_id=6)
SIZES = dict(vocab_size=160, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
VISION = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=16, patch_size=4)
WAVE = dict(
    SIZES, conv_dim=(16, 16), conv_stride=(4, 2), conv_kernel=(8, 4), num_feat_extract_layers=2, num_conv_pos_embeddings=8,
    num_conv_pos_embedding_groups=2, mask_time_prob=0.0, layerdrop=0.0, pad_token_id=0,
)  # fmt: skip
MODELS = {
    "GPT2": dict(vocab_size=160, n_positions=64, n_embd=32, n_layer=2, n_head=4, **IDS),
    "Bert": dict(SIZES, max_position_embeddings=64, pad_token_id=0),
    "Llama": dict(SIZES, max_position_embeddings=64, num_key_value_heads=2, **IDS),
    "T5": dict(vocab_size=160, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, pad_token_id=0, eos_token_id=6, decoder_start_token_id=0),
    "Bart": dict(vocab_size=160, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64, decoder_start_token_id=6, forced_eos_token_id=None, **IDS),
    "ViT": VISION,
    "Wav2Vec2": WAVE,
    "Whisper": dict(vocab_size=160, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_mel_bins=8, max_source_positions=1500, max_target_positions=32, suppress_tokens=None, begin_suppress_tokens=None, decoder_start_token_id=5, **IDS),
}  # fmt: skip


def model(name, seed=0, **changed):
    """A random model whose class is `name`, such as "BertForMaskedLM", in evaluation."""
    torch.manual_seed(seed)
    family = max((known for known in MODELS if name.startswith(known)), key=len)
    config = getattr(transformers, f"{family}Config")(**MODELS[family] | changed)
    return getattr(transformers, name)(config).eval()


def batch(texts=SENTENCES[:3], pairs=False, **options):
    """Texts as ids and a mask, padded on the right."""
    return tokenizer(pairs)(texts, padding=True, return_tensors="pt", return_token_type_ids=False, **options)


def numbers(x):
    """A tensor as its dtype, its shape, its length, and how it stands to a fixed direction."""
    flat = x.detach().double().reshape(-1)
    turned = (flat * torch.linspace(-1, 1, flat.numel(), dtype=torch.float64)).sum().item()
    return [str(x.dtype), list(x.shape), float(f"{flat.square().sum().sqrt().item():.7g}"), float(f"{turned:.7g}")]


def all_numbers(tensors):
    """The same for a dictionary of tensors, or a module."""
    named = tensors.state_dict() if hasattr(tensors, "state_dict") else dict(tensors)
    return {name: numbers(x) for name, x in named.items() if hasattr(x, "dtype")}


def same(xs, ys):
    """Whether two modules or dictionaries hold the same bits."""
    xs, ys = (dict(of.state_dict() if hasattr(of, "state_dict") else of) for of in (xs, ys))
    return sorted(xs) == sorted(ys) and all(x.dtype == ys[name].dtype and torch.equal(x, ys[name]) for name, x in xs.items())
