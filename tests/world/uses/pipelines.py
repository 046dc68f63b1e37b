"""transformers: pipelines"""

import numpy as np
import torch
import transformers
from PIL import Image
from tiny import SENTENCES, WAVE, model, numbers, tokenizer
from transformers import pipeline

NAMES = {0: "home", 1: "nature", 2: "rest"}


def _named():
    return dict(id2label=NAMES, label2id={label: number for number, label in NAMES.items()})


def text_generation():
    """text-generation: greedy, sampled, several answers, a batch with padding"""
    run = pipeline("text-generation", model=model("GPT2LMHeadModel"), tokenizer=tokenizer(padding_side="left"))
    greedy = run("the cat", max_new_tokens=8, do_sample=False)
    torch.manual_seed(1)
    drawn = run("the dog", max_new_tokens=8, do_sample=True, top_k=20, num_return_sequences=2, return_full_text=False)
    padded = run(["the sea", "a dog ran over"], max_new_tokens=6, do_sample=False, batch_size=2)
    return [greedy, drawn, padded]


def fill_mask():
    """fill-mask: the best tokens, chosen targets"""
    run = pipeline("fill-mask", model=model("BertForMaskedLM"), tokenizer=tokenizer(pairs=True))
    return [run("the [MASK] sat on the mat", top_k=3), run("a [MASK] ran to the [MASK]", top_k=2)]


def text_classification():
    """text-classification: one label, all labels, pairs of texts, batches"""
    run = pipeline("text-classification", model=model("BertForSequenceClassification", **_named()), tokenizer=tokenizer(pairs=True))
    pair = {"text": SENTENCES[0], "text_pair": SENTENCES[1]}
    return [
        run(SENTENCES[0]),
        run(SENTENCES[:5], batch_size=2, top_k=None),
        run(pair),
        run("a dog", function_to_apply="sigmoid"),
    ]


def token_classification():
    """token-classification: each token, and groups of them"""
    tagger = model(
        "BertForTokenClassification",
        id2label={0: "O", 1: "B-PER", 2: "I-PER"},
        label2id={"O": 0, "B-PER": 1, "I-PER": 2},
    )
    run = pipeline("token-classification", model=tagger, tokenizer=tokenizer(pairs=True))
    plain = lambda found: [{k: v.item() if hasattr(v, "item") else v for k, v in each.items()} for each in found]
    return [
        plain(run(SENTENCES[2])),
        *(plain(run(SENTENCES[3], aggregation_strategy=way)) for way in ("simple", "first", "max")),
    ]


def feature_extraction():
    """feature-extraction: lists, and a tensor"""
    run = pipeline("feature-extraction", model=model("BertModel"), tokenizer=tokenizer(pairs=True))
    return [np.asarray(run("the cat sat")).round(5).tolist(), numbers(run(SENTENCES[1], return_tensors=True))]


def zero_shot_classification():
    """zero-shot-classification: one label and several"""
    judge = model(
        "BertForSequenceClassification",
        id2label={0: "contradiction", 1: "neutral", 2: "entailment"},
        label2id={"contradiction": 0, "neutral": 1, "entailment": 2},
    )
    run = pipeline("zero-shot-classification", model=judge, tokenizer=tokenizer(pairs=True))
    labels = ["sea", "city", "field"]
    return [run(SENTENCES[2], candidate_labels=labels), run(SENTENCES[:2], candidate_labels=labels, multi_label=True)]


def _images(count, size=20):
    draw = np.random.default_rng(0)
    return [Image.fromarray(draw.integers(0, 256, (size, size + 4, 3), dtype=np.uint8)) for _ in range(count)]


def image_classification():
    """image-classification: pictures through the image processor"""
    processor = transformers.ViTImageProcessorPil(size={"height": 16, "width": 16})
    run = pipeline("image-classification", model=model("ViTForImageClassification", **_named()), image_processor=processor)
    return [run(_images(1)[0]), run(_images(3), batch_size=2, top_k=2)]


def image_feature_extraction():
    """image-feature-extraction: pooled and not"""
    processor = transformers.ViTImageProcessorPil(size={"height": 16, "width": 16})
    run = pipeline("image-feature-extraction", model=model("ViTModel"), image_processor=processor)
    return numbers(run(_images(1)[0], return_tensors=True))


def zero_shot_image_classification():
    """zero-shot-image-classification: CLIP with pictures and labels"""
    text = dict(
        vocab_size=160,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=64,
        eos_token_id=6,
    )
    from tiny import VISION

    torch.manual_seed(0)
    clip = transformers.CLIPModel(transformers.CLIPConfig(text_config=text, vision_config=VISION, projection_dim=16)).eval()
    processor = transformers.CLIPImageProcessorPil(size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16})
    run = pipeline("zero-shot-image-classification", model=clip, tokenizer=tokenizer(), image_processor=processor)
    return run(_images(2), candidate_labels=["cat", "dog"], hypothesis_template="the {}")


def _wave(seconds=0.2):
    return np.random.default_rng(1).standard_normal(int(16000 * seconds)).astype(np.float32)


def speech_recognition_ctc():
    """automatic-speech-recognition: Wav2Vec2 with CTC"""
    letters = transformers.Wav2Vec2FeatureExtractor(
        feature_size=1, sampling_rate=16000, padding_value=0.0, return_attention_mask=False
    )
    run = pipeline("automatic-speech-recognition", model=model("Wav2Vec2ForCTC"), tokenizer=tokenizer(), feature_extractor=letters)
    return [run(_wave()), run([_wave(), _wave(0.1)], batch_size=2), run({"raw": _wave(), "sampling_rate": 16000})]


def speech_recognition_whisper():
    """automatic-speech-recognition: Whisper, text and timestamps"""
    import json

    kept = json.loads(tokenizer().backend_tokenizer.to_str())["model"]
    marks = ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>"]
    words = transformers.WhisperTokenizer(vocab=kept["vocab"], merges=[tuple(pair) for pair in kept["merges"]])
    words.add_special_tokens({"additional_special_tokens": marks})
    heard = transformers.WhisperFeatureExtractor(feature_size=8)
    writer = model("WhisperForConditionalGeneration", vocab_size=2000)
    run = pipeline("automatic-speech-recognition", model=writer, tokenizer=words, feature_extractor=heard)
    return run(_wave(0.5), generate_kwargs=dict(max_new_tokens=6))


def audio_classification():
    """audio-classification: Wav2Vec2"""
    letters = transformers.Wav2Vec2FeatureExtractor(
        feature_size=1, sampling_rate=16000, padding_value=0.0, return_attention_mask=False
    )
    torch.manual_seed(0)
    judge = transformers.Wav2Vec2ForSequenceClassification(transformers.Wav2Vec2Config(**WAVE, **_named())).eval()
    return pipeline("audio-classification", model=judge, feature_extractor=letters)(_wave(), top_k=3)


def from_a_folder():
    """a pipeline of a folder that holds model and tokenizer, in bfloat16"""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        model("GPT2LMHeadModel").save_pretrained(folder)
        tokenizer().save_pretrained(folder)
        full = pipeline("text-generation", model=folder)("the cat", max_new_tokens=6, do_sample=False)
        half = pipeline("text-generation", model=folder, dtype=torch.bfloat16)
        half_answer = half("the cat", max_new_tokens=3, do_sample=False)
    return [full, str(half.model.dtype), half_answer]
