"""transformers: Trainer, through accelerate"""

import os
import tempfile

import numpy as np
import torch
import transformers
from tiny import LABELS, SENTENCES, all_numbers, model, same, tokenizer
from transformers import Trainer, TrainingArguments

NEEDS = ["accelerate"]
QUIET = dict(report_to="none", disable_tqdm=True, use_cpu=True, logging_steps=1, save_strategy="no", seed=7)


def _texts(pairs=True):
    maker = tokenizer(pairs)
    return [dict(maker(text, return_token_type_ids=False), labels=label) for text, label in zip(SENTENCES, LABELS)]


def _measured(found):
    return {"accuracy": float((found.predictions.argmax(-1) == found.label_ids).mean())}


def _classes(folder, steps=6, made=None, trainer=Trainer, callbacks=None, **options):
    arguments = TrainingArguments(folder, max_steps=steps, per_device_train_batch_size=2, learning_rate=1e-3, **QUIET | options)
    return trainer(
        model=made or model("BertForSequenceClassification", num_labels=3),
        args=arguments,
        train_dataset=_texts(),
        eval_dataset=_texts()[:4],
        data_collator=transformers.DataCollatorWithPadding(tokenizer(pairs=True)),
        compute_metrics=_measured,
        callbacks=callbacks,
    )


TIMES = ("_runtime", "_per_second")


def _told(found):
    """What was logged, without times."""
    if isinstance(found, list):
        return [_told(each) for each in found]
    return {k: (float(v) if hasattr(v, "item") else v) for k, v in found.items() if not k.endswith(TIMES) and k != "total_flos"}


def trained_and_judged():
    """train, evaluate, predict: losses, gradient norms, learning rates, metrics"""
    with tempfile.TemporaryDirectory() as folder:
        run = _classes(folder, eval_strategy="steps", eval_steps=3, warmup_steps=2, weight_decay=0.1)
        done = run.train()
        predicted = run.predict(_texts()[4:])
    return [
        _told(run.state.log_history),
        _told(run.evaluate()),
        predicted.predictions.round(4).tolist(),
        _told(done.metrics),
    ]


def resumed():
    """resume_from_checkpoint: the same losses and the same bits as without a break; the files of a checkpoint"""
    with tempfile.TemporaryDirectory() as folder:
        whole = _classes(folder, save_strategy="steps", save_steps=3, save_total_limit=2)
        whole.train()
        files = sorted(os.listdir(os.path.join(folder, "checkpoint-3")))
        again = _classes(folder, save_strategy="steps", save_steps=3)
        again.train(resume_from_checkpoint=os.path.join(folder, "checkpoint-3"))
        read = type(whole.model).from_pretrained(os.path.join(folder, "checkpoint-6"))
    files = [file for file in files if file != "rng_state.pth"]
    return [
        _told(whole.state.log_history),
        _told(again.state.log_history[-3:]),
        same(whole.model, again.model),
        same(read, whole.model),
        files,
    ]


def accumulated():
    """gradient accumulation, and gradient checkpointing"""
    with tempfile.TemporaryDirectory() as folder:
        several = _classes(folder, steps=3, gradient_accumulation_steps=2)
        several.train()
        spare = _classes(folder, steps=3, gradient_checkpointing=True)
        spare.train()
    return [_told(several.state.log_history), _told(spare.state.log_history)]


def plans():
    """schedules: linear, cosine, with restarts, polynomial, constant, inverse root, minimum, stable and decay"""
    gives = {}
    with tempfile.TemporaryDirectory() as folder:
        for plan, more in {
            "linear": None,
            "cosine": None,
            "cosine_with_restarts": {"num_cycles": 2},
            "polynomial": {"power": 2.0},
            "constant": None,
            "constant_with_warmup": None,
            "inverse_sqrt": None,
            "cosine_with_min_lr": {"min_lr": 1e-4},
            "warmup_stable_decay": {"num_decay_steps": 2},
            "reduce_lr_on_plateau": None,
        }.items():
            judged = dict(eval_strategy="steps", eval_steps=2) if plan == "reduce_lr_on_plateau" else {}
            run = _classes(folder, steps=5, lr_scheduler_type=plan, lr_scheduler_kwargs=more or {}, warmup_steps=1, **judged)
            run.train()
            gives[plan] = [[line.get("learning_rate"), line.get("loss")] for line in run.state.log_history if "loss" in line]
    return gives


def optimizers():
    """optimizers by name: AdamW fused and not, SGD, Adagrad, RMSprop, Adafactor"""
    gives = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("adamw_torch", "adamw_torch_fused", "sgd", "adagrad", "rmsprop", "adafactor"):
            run = _classes(folder, steps=3, optim=name)
            run.train()
            gives[name] = [line["loss"] for line in run.state.log_history if "loss" in line]
    return gives


class _Counter(transformers.TrainerCallback):
    def __init__(self):
        self.seen = []

    def on_step_end(self, args, state, control, **kwargs):
        self.seen.append(["step", state.global_step])
        control.should_training_stop = state.global_step >= 4

    def on_epoch_begin(self, args, state, control, **kwargs):
        self.seen.append(["epoch", state.epoch])

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.seen.append(["log", sorted(logs)])


class _Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        found = model(**inputs)
        loss = torch.nn.functional.cross_entropy(found.logits, labels, weight=torch.tensor([1.0, 2.0, 3.0]))
        return (loss, found) if return_outputs else loss


def callbacks_and_own_loss():
    """callbacks that stop, early stopping with the best model, and a loss of one's own"""
    with tempfile.TemporaryDirectory() as folder:
        counter = _Counter()
        stopped = _classes(folder, callbacks=[counter])
        stopped.train()
        best = dict(
            eval_strategy="steps",
            eval_steps=1,
            save_strategy="steps",
            save_steps=1,
            load_best_model_at_end=True,
            metric_for_best_model="loss",
        )
        early = _classes(folder, steps=8, callbacks=[transformers.EarlyStoppingCallback(2)], **best)
        early.train()
        own = _classes(folder, steps=3, trainer=_Weighted)
        own.train()
    return [counter.seen, early.state.best_metric, early.state.global_step, _told(own.state.log_history)]


def language_model():
    """a language model over epochs, by groups of length, with label smoothing, in bfloat16"""
    maker = tokenizer()
    texts = [dict(maker(text, return_token_type_ids=False)) for text in SENTENCES]
    gives = []
    with tempfile.TemporaryDirectory() as folder:
        for options in (
            dict(),
            dict(train_sampling_strategy="group_by_length"),
            dict(label_smoothing_factor=0.1),
            dict(bf16=True),
        ):
            arguments = TrainingArguments(
                folder, num_train_epochs=2, per_device_train_batch_size=3, learning_rate=1e-3, **QUIET | options
            )
            run = Trainer(
                model=model("GPT2LMHeadModel"),
                args=arguments,
                train_dataset=texts,
                data_collator=transformers.DataCollatorForLanguageModeling(maker, mlm=False),
            )
            run.train()
            digits = 2 if "bf16" in options else 7
            gives.append([round(line["loss"], digits) for line in run.state.log_history if "loss" in line])
    return gives


def sequences_to_sequences():
    """Seq2SeqTrainer: trained, then judged by what it generates"""
    maker = tokenizer()
    texts = [dict(maker(text, text_target=SENTENCES[-n - 1], return_token_type_ids=False)) for n, text in enumerate(SENTENCES)]
    made = model("T5ForConditionalGeneration")
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.Seq2SeqTrainingArguments(
            folder,
            max_steps=4,
            per_device_train_batch_size=2,
            learning_rate=1e-2,
            predict_with_generate=True,
            generation_max_length=10,
            **QUIET,
        )
        run = transformers.Seq2SeqTrainer(
            model=made,
            args=arguments,
            train_dataset=texts,
            eval_dataset=texts[:3],
            processing_class=maker,
            data_collator=transformers.DataCollatorForSeq2Seq(maker, model=made),
            compute_metrics=lambda found: {"ids": int(np.sum(found.predictions))},
        )
        run.train()
        judged = run.evaluate(num_beams=2)
        predicted = run.predict(texts[:2], max_length=8)
    return [_told(run.state.log_history), _told(judged), predicted.predictions.tolist()]


def saved():
    """save_model, and what is read again"""
    with tempfile.TemporaryDirectory() as folder:
        run = _classes(folder, steps=2)
        run.train()
        run.save_model(folder)
        run.save_state()
        read = type(run.model).from_pretrained(folder)
        files = sorted(os.listdir(folder))
    return [files, same(read, run.model), all_numbers(read)]
