"""sentence-transformers"""

import os
import tempfile

import numpy as np
import torch
from sentence_transformers import (
    CrossEncoder,
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    util,
)
from sentence_transformers.sentence_transformer import evaluation, losses, modules
from tiny import LABELS, SENTENCES, model, numbers, tokenizer

NEEDS = ["sentence_transformers", "accelerate", "datasets"]
OPTIONS = dict(report_to="none", disable_tqdm=True, use_cpu=True, logging_steps=1, save_strategy="no", seed=5)


def _encoder(pooling="mean", *more, **changed):
    """A sentence encoder around a random BERT."""
    with tempfile.TemporaryDirectory() as folder:
        model("BertModel", **changed).save_pretrained(folder)
        tokenizer(pairs=True).save_pretrained(folder)
        words = modules.Transformer(folder)
    made = [words, modules.Pooling(words.get_embedding_dimension(), pooling), *more]
    return SentenceTransformer(modules=made, device="cpu")


def _array(x):
    return numbers(torch.tensor(np.asarray(x, dtype=np.float64)))


def encoded():
    """encode: arrays, tensors, lists, one text, batches, normalised, cut short, prompts, token by token, int8 and binary"""
    made = _encoder()
    made.prompts = {"query": "a question: "}
    ways = [
        dict(),
        dict(convert_to_tensor=True),
        dict(batch_size=3),
        dict(normalize_embeddings=True),
        dict(truncate_dim=8),
        dict(prompt="the "),
        dict(prompt_name="query"),
        dict(precision="int8"),
        dict(precision="ubinary"),
        dict(convert_to_numpy=False),
    ]
    gives = []
    for way in ways:
        found = made.encode(SENTENCES, **way)
        shown = (
            found.shape
            if "int8" in way.values()
            else _array(found)
            if len(found) > 1 and not isinstance(found, list)
            else numbers(torch.stack(found))
        )
        gives.append([type(found).__name__, shown])
    words = made.encode(SENTENCES[:2], output_value="token_embeddings")
    both = made.encode(SENTENCES[:2], output_value=None)
    return [
        gives,
        _array(made.encode("the cat")),
        [numbers(x) for x in words],
        sorted(both[0]),
        _array(made.encode_query(["the sea"])),
        _array(made.encode_document(["the sea"])),
    ]


def pooled():
    """pooling: mean, maximum, first, last, weighted, divided by the root; a dense layer, norm, normalisation"""
    gives = {}
    for pooling in ("mean", "max", "cls", "lasttoken", "weightedmean", "mean_sqrt_len_tokens"):
        gives[pooling] = _array(_encoder(pooling).encode(SENTENCES))
    torch.manual_seed(1)
    more = (modules.Dense(32, 12), modules.LayerNorm(12), modules.Normalize())
    return [gives, _array(_encoder("mean", *more).encode(SENTENCES))]


def compared():
    """similarity: cosine, dot, Euclidean, Manhattan; pairs; util.cos_sim, dot_score, pairwise"""
    made, gives = _encoder(), {}
    x = made.encode(SENTENCES, convert_to_tensor=True)
    for way in ("cosine", "dot", "euclidean", "manhattan"):
        made.similarity_fn_name = way
        gives[way] = [numbers(made.similarity(x, x[:3])), numbers(made.similarity_pairwise(x[:4], x[4:]))]
    return [
        gives,
        numbers(util.cos_sim(x, x)),
        numbers(util.dot_score(x, x)),
        numbers(util.pairwise_cos_sim(x[:2], x[2:4])),
        numbers(util.normalize_embeddings(x)),
    ]


def searched():
    """semantic_search, paraphrase mining, community detection, hard negatives"""
    import datasets

    made = _encoder()
    x = made.encode(SENTENCES, convert_to_tensor=True)
    found = util.semantic_search(x[:3], x, top_k=3, query_chunk_size=2, corpus_chunk_size=3)
    alike = util.paraphrase_mining(made, SENTENCES, top_k=4, query_chunk_size=3, corpus_chunk_size=5)
    groups = util.community_detection(x, threshold=0.6, min_community_size=2)
    pairs = datasets.Dataset.from_dict({"query": SENTENCES[:4], "answer": SENTENCES[4:]})
    mined = util.mine_hard_negatives(pairs, made, num_negatives=1, verbose=False)
    return [found, alike, groups, mined.to_dict()]


def saved():
    """save_pretrained and read again; a half-precision encoder"""
    torch.manual_seed(1)
    made = _encoder("mean", modules.Dense(32, 8))
    with tempfile.TemporaryDirectory() as folder:
        made.save_pretrained(folder)
        read = SentenceTransformer(folder, device="cpu")
        half = SentenceTransformer(folder, device="cpu", model_kwargs=dict(dtype="bfloat16"))
        files = sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)
    again = bool((made.encode(SENTENCES) == read.encode(SENTENCES)).all())
    return [
        files,
        again,
        [str(p.dtype) for p in half.parameters()][:2],
        half.encode(SENTENCES[:1])[0].round(1).tolist(),
    ]


def _pairs():
    import datasets

    return datasets.Dataset.from_dict({"anchor": SENTENCES[:6], "positive": SENTENCES[2:]})


def _labelled(labels, **more):
    import datasets

    return datasets.Dataset.from_dict({"sentence1": SENTENCES, "sentence2": SENTENCES[::-1], **more, "label": labels})


def _trained(data, loss, steps=4, batch=3, made=None, **options):
    made = made or _encoder()
    with tempfile.TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            folder, max_steps=steps, per_device_train_batch_size=batch, learning_rate=1e-3, **OPTIONS | options
        )
        run = SentenceTransformerTrainer(model=made, args=arguments, train_dataset=data, loss=loss(made))
        run.train()
    vectors = made.encode(SENTENCES, convert_to_tensor=True)  # how far apart: a loss of differences says nothing of where
    return [[line["loss"] for line in run.state.log_history if "loss" in line], numbers(torch.cdist(vectors, vectors))]


def trained_by_ranking():
    """training with MultipleNegativesRankingLoss, its cached and symmetric forms, with hard negatives"""
    import datasets

    triples = datasets.Dataset.from_dict({"anchor": SENTENCES[:6], "positive": SENTENCES[2:], "negative": SENTENCES[1:7]})
    return [
        _trained(_pairs(), losses.MultipleNegativesRankingLoss),
        _trained(triples, losses.MultipleNegativesRankingLoss, batch_sampler="no_duplicates"),
        _trained(_pairs(), lambda made: losses.CachedMultipleNegativesRankingLoss(made, mini_batch_size=2)),
        _trained(_pairs(), losses.MultipleNegativesSymmetricRankingLoss),
    ]


def trained_by_scores():
    """training with CosineSimilarity, CoSENT, AnglE, contrastive, online contrastive losses"""
    scores = _labelled([0.1, 0.9, 0.4, 0.7, 0.2, 0.8, 0.3, 0.5])
    marks = _labelled([0, 1, 0, 1, 1, 0, 1, 0])
    return [
        *(_trained(scores, loss) for loss in (losses.CosineSimilarityLoss, losses.CoSENTLoss, losses.AnglELoss)),
        *(_trained(marks, loss) for loss in (losses.ContrastiveLoss, losses.OnlineContrastiveLoss)),
    ]


def trained_by_classes():
    """training with SoftmaxLoss, the triplet losses, Matryoshka, GISTEmbed, MSE"""
    import datasets

    torch.manual_seed(4)
    classes = datasets.Dataset.from_dict({"sentence": SENTENCES, "label": LABELS})
    triples = datasets.Dataset.from_dict({"anchor": SENTENCES[:6], "positive": SENTENCES[2:], "negative": SENTENCES[1:7]})
    guide = _encoder(num_hidden_layers=1)
    vectors = datasets.Dataset.from_dict({"sentence": SENTENCES, "label": guide.encode(SENTENCES).tolist()})
    return [
        _trained(_labelled(LABELS), lambda made: losses.SoftmaxLoss(made, 32, 3)),
        _trained(triples, losses.TripletLoss),
        *(
            _trained(classes, loss, batch=8, steps=2)
            for loss in (losses.BatchAllTripletLoss, losses.BatchHardTripletLoss, losses.BatchSemiHardTripletLoss)
        ),
        _trained(_pairs(), lambda made: losses.MatryoshkaLoss(made, losses.MultipleNegativesRankingLoss(made), [32, 16, 8])),
        _trained(_pairs(), lambda made: losses.GISTEmbedLoss(made, guide)),
        _trained(vectors, losses.MSELoss),
    ]


def judged():
    """evaluators: similarity, binary, triplets, retrieval, reranking, paraphrases, translation"""
    made = _encoder()
    half = len(SENTENCES) // 2
    judges = [
        evaluation.EmbeddingSimilarityEvaluator(SENTENCES, SENTENCES[::-1], [0.1, 0.9, 0.4, 0.7, 0.2, 0.8, 0.3, 0.5]),
        evaluation.BinaryClassificationEvaluator(SENTENCES, SENTENCES[::-1], [0, 1, 0, 1, 1, 0, 1, 0]),
        evaluation.TripletEvaluator(SENTENCES[:6], SENTENCES[2:], SENTENCES[1:7]),
        evaluation.InformationRetrievalEvaluator(
            {"1": SENTENCES[0], "2": SENTENCES[1]},
            {str(n): s for n, s in enumerate(SENTENCES)},
            {"1": {"3"}, "2": {"2", "5"}},
            batch_size=4,
        ),
        evaluation.RerankingEvaluator([{"query": SENTENCES[0], "positive": SENTENCES[1:3], "negative": SENTENCES[3:]}]),
        evaluation.ParaphraseMiningEvaluator({str(n): s for n, s in enumerate(SENTENCES)}, [("0", "1"), ("2", "3")]),
        evaluation.TranslationEvaluator(SENTENCES[:half], SENTENCES[half:]),
        evaluation.MSEEvaluator(SENTENCES[:half], SENTENCES[half:], teacher_model=made),
    ]
    return [{name: float(value) for name, value in judge(made).items()} for judge in judges]


def static_embeddings():
    """static embeddings: encode, training"""
    from tokenizers import Tokenizer

    maker = tokenizer()
    torch.manual_seed(2)
    static = SentenceTransformer(
        modules=[modules.StaticEmbedding(Tokenizer.from_str(maker.backend_tokenizer.to_str()), embedding_dim=16)],
        device="cpu",
    )
    return [_array(static.encode(SENTENCES)), _trained(_pairs(), losses.MultipleNegativesRankingLoss, made=static)]


def _cross(labels=1):
    with tempfile.TemporaryDirectory() as folder:
        model("BertForSequenceClassification", num_labels=labels).save_pretrained(folder)
        tokenizer(pairs=True).save_pretrained(folder)
        return CrossEncoder(folder, device="cpu")


def cross_encoder():
    """CrossEncoder: predict, rank, several classes, activation, training with two losses"""
    from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
    from sentence_transformers.cross_encoder import losses as of_pairs

    pairs = list(zip(SENTENCES, SENTENCES[::-1]))
    ranked = [[hit["corpus_id"], float(hit["score"])] for hit in _cross().rank(SENTENCES[0], SENTENCES[1:], top_k=4)]
    gives = [
        _array(_cross().predict(pairs)),
        numbers(_cross().predict(pairs, convert_to_tensor=True, activation_fn=torch.nn.Tanh())),
        _array(_cross(3).predict(pairs, apply_softmax=True)),
        ranked,
    ]
    for loss, data in (
        (of_pairs.BinaryCrossEntropyLoss, _labelled([0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0])),
        (of_pairs.MultipleNegativesRankingLoss, _pairs()),
    ):
        made = _cross()
        with tempfile.TemporaryDirectory() as folder:
            arguments = CrossEncoderTrainingArguments(
                folder, max_steps=3, per_device_train_batch_size=3, learning_rate=1e-3, **OPTIONS
            )
            run = CrossEncoderTrainer(model=made, args=arguments, train_dataset=data, loss=loss(made))
            run.train()
        gives.append([[line["loss"] for line in run.state.log_history if "loss" in line], _array(made.predict(pairs))])
    return gives


def sparse_encoder():
    """SparseEncoder (SPLADE): vectors, similarity"""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling

    with tempfile.TemporaryDirectory() as folder:
        model("BertForMaskedLM").save_pretrained(folder)
        tokenizer(pairs=True).save_pretrained(folder)
        made = SparseEncoder(modules=[MLMTransformer(folder), SpladePooling()], device="cpu")
    x = made.encode(SENTENCES, convert_to_sparse_tensor=False)
    return [numbers(x), numbers(made.similarity(x, x))]
