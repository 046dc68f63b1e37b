"""transformers: a model in hand"""

import torch
from tiny import LABELS, SENTENCES, all_numbers, batch, model, numbers, same


def hidden_states_and_attentions():
    """output_hidden_states and output_attentions, eager"""
    gives = []
    for name in ("BertModel", "GPT2Model", "LlamaModel"):
        with torch.no_grad():
            found = model(name, attn_implementation="eager")(**batch(), output_hidden_states=True, output_attentions=True)
        gives.append([[numbers(x) for x in found.hidden_states], [numbers(x) for x in found.attentions]])
    t5 = model("T5ForConditionalGeneration", attn_implementation="eager")
    found = t5(**batch(), labels=batch()["input_ids"], output_hidden_states=True, output_attentions=True)
    return [*gives, numbers(found.cross_attentions[1]), numbers(found.encoder_hidden_states[2]), numbers(found.loss)]


def attention_implementations():
    """eager, sdpa and set_attn_implementation agree with PyTorch's"""
    gives = []
    for name in ("BertForMaskedLM", "GPT2LMHeadModel", "LlamaForCausalLM"):
        for way in ("eager", "sdpa"):
            made = model(name, attn_implementation=way)
            gives.append(numbers(made(**batch()).logits))
        made.set_attn_implementation("eager")
        gives.append(numbers(made(**batch()).logits))
    return gives


def resized_vocabulary():
    """resize_token_embeddings: longer by the mean, longer at random, padded, shorter; tied weights stay tied"""
    gives = []
    for mean, size, multiple in ((True, 163, None), (False, 163, None), (True, 161, 16), (True, 150, None)):
        made = model("GPT2LMHeadModel")
        torch.manual_seed(1)
        made.resize_token_embeddings(size, mean_resizing=mean, pad_to_multiple_of=multiple)
        tied = made.get_output_embeddings().weight is made.get_input_embeddings().weight
        gives.append(
            [
                numbers(made.get_input_embeddings().weight[:160] if mean else made.get_input_embeddings().weight),
                made.config.vocab_size,
                tied,
            ]
        )
    made = model("LlamaForCausalLM")
    torch.manual_seed(1)
    made.resize_token_embeddings(166, mean_resizing=False)
    return [*gives, all_numbers(made), numbers(made(**batch()).logits)]


def grown_by_the_mean():
    """resize_token_embeddings with the mean: new rows lie about the mean of the old ones"""
    made = model("LlamaForCausalLM")
    old = made.get_input_embeddings().weight.detach().clone()
    torch.manual_seed(1)
    made.resize_token_embeddings(170)
    new = made.get_input_embeddings().weight.detach()
    return [
        torch.equal(new[:160], old),
        bool((new[160:] - old.mean(0)).abs().max() < 1e-3),
        list(made.lm_head.weight.shape),
    ]


def tied_weights():
    """tied weights: one tensor, one gradient, saved once; and untied"""
    made = model("GPT2LMHeadModel")
    shared = made.lm_head.weight is made.transformer.wte.weight
    made(**batch(), labels=batch()["input_ids"]).loss.backward()
    apart = model("GPT2LMHeadModel", tie_word_embeddings=False)
    apart(**batch(), labels=batch()["input_ids"]).loss.backward()
    return [
        shared,
        numbers(made.lm_head.weight.grad),
        numbers(apart.lm_head.weight.grad),
        len(list(made.parameters())),
        len(list(apart.parameters())),
    ]


def embeddings_in_and_out():
    """get and set input embeddings, inputs_embeds, tie_weights afterwards"""
    made = model("BertForMaskedLM")
    torch.manual_seed(3)
    made.set_input_embeddings(torch.nn.Embedding(160, 32, padding_idx=0))
    made.tie_weights()
    given = made.get_input_embeddings()(batch()["input_ids"])
    found = made(inputs_embeds=given, attention_mask=batch()["attention_mask"]).logits
    return [made.get_output_embeddings().weight is made.get_input_embeddings().weight, numbers(found)]


def half_precision():
    """model.half(), .to(bfloat16), .float(): dtypes, scores, a step in bfloat16"""
    gives = []
    for name in ("BertForMaskedLM", "LlamaForCausalLM", "GPT2LMHeadModel"):
        for dtype in (torch.bfloat16, torch.float16):
            made = model(name).to(dtype)
            with torch.no_grad():
                found = made(**batch()).logits
            gives.append([str(found.dtype), [round(x, 1) for x in found[0, 0, :6].tolist()]])
    made = model("LlamaForCausalLM").to(torch.bfloat16)
    loss = made(**batch(), labels=batch()["input_ids"]).loss
    loss.backward()
    gives.append([round(loss.item(), 1), sorted({str(p.grad.dtype) for p in made.parameters()})])
    return [*gives, str(model("BertModel").half().dtype), str(model("BertModel").half().float().dtype)]


def without_gradients():
    """no_grad, inference_mode, eval and train, requires_grad_, num_parameters, memory footprint"""
    made = model("BertForSequenceClassification", num_labels=3)
    with torch.inference_mode():
        quiet = made(**batch()).logits
    with torch.no_grad():
        also = made(**batch()).logits
    made.bert.requires_grad_(False)
    made(**batch(), labels=torch.tensor(LABELS[:3])).loss.backward()
    with_gradient = sorted(name for name, p in made.named_parameters() if p.grad is not None)
    return [
        quiet.is_inference(),
        quiet.requires_grad,
        torch.equal(quiet, also),
        with_gradient,
        made.num_parameters(only_trainable=True),
        made.num_parameters(),
        made.get_memory_footprint(),
        str(made.device),
    ]


def losses_of_heads():
    """heads and their losses: classes, several labels, regression, tokens, spans, choices, next sentence"""
    given, labels = batch(pairs=True), torch.tensor(LABELS[:3])
    runs = {
        "classes": ("BertForSequenceClassification", dict(num_labels=3), dict(labels=labels)),
        "several labels": (
            "BertForSequenceClassification",
            dict(num_labels=3, problem_type="multi_label_classification"),
            dict(labels=torch.eye(3)),
        ),
        "regression": ("BertForSequenceClassification", dict(num_labels=1), dict(labels=labels.float())),
        "tokens": ("BertForTokenClassification", dict(num_labels=3), dict(labels=given["input_ids"] % 3)),
        "spans": ("BertForQuestionAnswering", {}, dict(start_positions=labels, end_positions=labels + 2)),
        "next sentence": ("BertForNextSentencePrediction", {}, dict(labels=labels % 2)),
        "classes by a decoder": ("GPT2ForSequenceClassification", dict(num_labels=3), dict(labels=labels)),
        "two heads": ("BertForPreTraining", {}, dict(labels=given["input_ids"], next_sentence_label=labels % 2)),
    }
    gives = {}
    for what, (name, changed, answer) in runs.items():
        made = model(name, **changed)
        loss = made(**given, **answer).loss
        loss.backward()
        gives[what] = [numbers(loss), numbers(next(made.parameters()).grad)]
    return gives


def checkpointed():
    """gradient_checkpointing_enable: the same loss, gradients and dropout as without"""
    gives = []
    for name in ("GPT2LMHeadModel", "LlamaForCausalLM", "BertForMaskedLM", "T5ForConditionalGeneration"):
        for options in (None, dict(use_reentrant=False), dict(use_reentrant=True)):
            made = model(name).train()
            if options:
                made.gradient_checkpointing_enable(gradient_checkpointing_kwargs=options)
                made.enable_input_require_grads()
            torch.manual_seed(4)
            loss = made(**batch(), labels=batch()["input_ids"]).loss
            loss.backward()
            gives.append([numbers(loss), {n: numbers(p.grad) for n, p in made.named_parameters() if p.grad is not None}])
    return gives


def copied():
    """deepcopy, pickle of a state_dict, load_state_dict with strict and without"""
    import copy
    import io

    made = model("GPT2LMHeadModel")
    twin = copy.deepcopy(made)
    file = io.BytesIO()
    torch.save(made.state_dict(), file)
    file.seek(0)
    other = model("GPT2LMHeadModel", seed=9)
    answer = other.load_state_dict(torch.load(file, weights_only=True))
    part = {name: x for name, x in made.state_dict().items() if "mlp" not in name}
    missing = model("GPT2LMHeadModel").load_state_dict(part, strict=False)
    return [same(made, twin), same(made, other), str(answer), missing.missing_keys]


def hooks():
    """forward hooks, pre-hooks and backward hooks on a model's layers"""
    made, seen = model("BertModel"), []
    made.encoder.layer[0].register_forward_hook(
        lambda module, given, gives: seen.append(["out", numbers(gives[0] if isinstance(gives, tuple) else gives)])
    )
    made.pooler.dense.register_forward_pre_hook(lambda module, given: seen.append(["in", numbers(given[0])]))
    made.pooler.dense.register_full_backward_hook(lambda module, back, forth: seen.append(["back", numbers(forth[0])]))
    made(**batch()).pooler_output.sum().backward()
    return seen


def printed():
    """print(model): the same text"""
    return [str(model(name)) for name in ("GPT2LMHeadModel", "BertForMaskedLM", "LlamaForCausalLM", "ViTForImageClassification")]


def fed_by_loader():
    """a loop of one's own: DataLoader, AdamW, get_scheduler, clipping"""
    import transformers
    from tiny import tokenizer

    made, maker = model("BertForSequenceClassification", num_labels=3).train(), tokenizer(pairs=True)
    texts = [dict(maker(text), label=label) for text, label in zip(SENTENCES, LABELS)]
    torch.manual_seed(1)
    loader = torch.utils.data.DataLoader(texts, batch_size=3, shuffle=True, collate_fn=transformers.DataCollatorWithPadding(maker))
    optimizer = torch.optim.AdamW(made.parameters(), lr=1e-3)
    plan = transformers.get_scheduler("cosine", optimizer, num_warmup_steps=2, num_training_steps=6)
    losses = []
    for _ in range(2):
        for each in loader:
            loss = made(**each).loss
            loss.backward()
            length = torch.nn.utils.clip_grad_norm_(made.parameters(), 0.5)
            optimizer.step()
            plan.step()
            optimizer.zero_grad()
            losses.append([loss.item(), length.item(), plan.get_last_lr()])
    return losses
