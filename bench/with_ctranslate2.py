"""CTranslate2 for the workloads that only answer, in float32 or int8: its own model format, written from the shared weights."""

import os
import tempfile

import ctranslate2
import numpy as np
from ctranslate2.specs import common_spec, transformer_spec

from bench.workloads import Workload, data, weights


def fill(part, p: dict[str, np.ndarray], name: str) -> None:
    """Give a linear or a norm of a specification its weights."""
    first, second = ("gamma", "beta") if hasattr(part, "gamma") else ("weight", "bias")
    setattr(part, first, p[f"{name}.weight"])
    setattr(part, second, p[f"{name}.bias"])


def fill_layers(layers, p: dict[str, np.ndarray]) -> None:
    for i, layer in enumerate(layers):
        name = f"blocks.{i}"
        fill(layer.self_attention.linear[0], p, f"{name}.attention.qkv")
        fill(layer.self_attention.linear[1], p, f"{name}.attention.out")
        fill(layer.ffn.linear_0, p, f"{name}.up")
        fill(layer.ffn.linear_1, p, f"{name}.down")
        fill(layer.self_attention.layer_norm, p, f"{name}.norm1")
        fill(layer.ffn.layer_norm, p, f"{name}.norm2")


def decoder_spec(work: Workload, p: dict[str, np.ndarray]):
    gelu = common_spec.Activation.GELUTanh
    spec = transformer_spec.TransformerDecoderModelSpec.from_config(work.layers, work.heads, pre_norm=True, activation=gelu)
    decoder = spec.decoder
    decoder.scale_embeddings = False
    decoder.embeddings.weight = decoder.projection.weight = p["token.weight"]
    decoder.position_encodings.encodings = p["position.weight"]
    fill(decoder.layer_norm, p, "norm")
    fill_layers(decoder.layer, p)
    spec.config.bos_token = spec.config.eos_token = "t0"
    return spec


def encoder_spec(work: Workload, p: dict[str, np.ndarray]):
    encoder = transformer_spec.TransformerEncoderSpec(
        work.layers, work.heads, pre_norm=False, activation=common_spec.Activation.GELU, layernorm_embedding=True,
        num_source_embeddings=2, embeddings_merge=common_spec.EmbeddingsMerge.ADD,
    )  # fmt: skip
    encoder.scale_embeddings = False
    encoder.embeddings[0].weight, encoder.embeddings[1].weight = p["token.weight"], p["segment.weight"]
    encoder.position_encodings.encodings = p["position.weight"]
    fill(encoder.layernorm_embedding, p, "norm")
    fill_layers(encoder.layer, p)
    spec = transformer_spec.TransformerEncoderModelSpec(encoder, pooling_layer=False)
    spec.config.layer_norm_epsilon = 1e-5
    return spec


class Model:
    """The shared weights in CTranslate2's format, opened with as many threads as the others have."""

    def __init__(self, work: Workload, spec_of, opener, precision: str):
        p = weights(work)
        self.parameters = sum(value.size for value in p.values())
        spec = spec_of(work, p)
        spec.register_vocabulary([f"t{i}" for i in range(work.vocab)])
        spec.config.unk_token = "t0"
        spec.validate()
        spec.optimize(quantization=None if precision == "float32" else precision)
        threads = int(os.environ["OMP_NUM_THREADS"])
        with tempfile.TemporaryDirectory() as folder:
            spec.save(folder)
            self.opened = opener(folder, device="cpu", compute_type=precision, intra_threads=threads, inter_threads=1)


class Writing(Model):
    def __init__(self, work: Workload, precision: str):
        super().__init__(work, decoder_spec, ctranslate2.Generator, precision)
        self.prompt, self.count = [[f"t{i}" for i in data(work)["x"][0]]], work.T - work.prompt

    def step(self) -> float:
        answer = self.opened.generate_batch(
            self.prompt, max_length=self.count, min_length=self.count, beam_size=1, sampling_topk=1,
            include_prompt_in_result=False, suppress_sequences=[],
        )  # fmt: skip
        tokens = np.array(answer[0].sequences_ids[0], np.int64)
        return float(np.dot(tokens % 9973, np.arange(1, len(tokens) + 1)) % 1_000_003)


class Encoding(Model):
    def __init__(self, work: Workload, precision: str):
        super().__init__(work, encoder_spec, ctranslate2.Encoder, precision)
        self.ids = data(work)["x"].astype(np.int32).tolist()

    def step(self) -> float:
        hidden = np.array(self.opened.forward_batch(self.ids).last_hidden_state).mean(1)
        return float((hidden / np.linalg.norm(hidden, axis=-1, keepdims=True))[:, 0].sum())


def build(work: Workload, variant: str, precision: str):
    """The work of CTranslate2."""
    return Writing(work, precision) if work.family == "write" else Encoding(work, precision)
