"""lm-evaluation-harness asks a model of badak what it asks transformers' model with the same weights: the same figures."""

import json
import subprocess
import sys

import pytest
import torch

from badak.generation.harness import run_tasks
from badak.training.load import load_generator
from tests.cli.serving.conftest import served
from tests.generation.test_harness import TEXT, written

pytestmark = pytest.mark.nightly
KINDS = {
    "choices": 'output_type: multiple_choice\ndoc_to_text: "{{q}}\\nAnswer:"\ndoc_to_choice: "{{choices}}"\ndoc_to_target: label\n'
    "metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}, "
    "{metric: acc_norm, aggregation: mean, higher_is_better: true}]\n",
    "texts": 'output_type: loglikelihood_rolling\ndoc_to_text: ""\ndoc_to_target: "{{q}}"\n'
    "metric_list: [{metric: word_perplexity}, {metric: bits_per_byte}]\n",
    "answers": 'output_type: generate_until\ndoc_to_text: "{{q}}\\n"\ndoc_to_target: "{{choices[0]}}"\n'
    'generation_kwargs: {until: ["\\n"], max_gen_toks: 6, do_sample: false}\n'
    "metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]\n",
}


def asked(folder, context=24):
    """A model and three tasks about it, in a folder: the folder of the tasks."""
    torch.manual_seed(0)
    written(folder / "model", context)
    words = " ".join(TEXT).split()
    rows = [
        {"q": " ".join(words[i : i + 3 + 5 * (i % 7)]), "choices": words[i : i + 4], "label": i % 4} for i in range(len(words) - 4)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = f"dataset_path: json\ndataset_kwargs: {{data_files: {{validation: {folder}/rows.jsonl}}}}\n"
    data += "validation_split: validation\n"
    (folder / "tasks").mkdir()
    for name, lines in KINDS.items():
        (folder / "tasks" / f"{name}.yaml").write_text(f"task: {name}\n{data}{lines}metadata: {{version: 1.0}}\n")
    return folder / "tasks"


def same(ours, theirs, rel=1e-5):
    """Whether the figures of all three tasks agree."""
    assert len(theirs) == len(KINDS)
    for task, figures in theirs.items():
        for name, value in figures.items():
            if not name.startswith(("sample_", "alias", "name")):
                assert ours[task][name] == (pytest.approx(value, rel=rel) if isinstance(value, float) else value), (task, name)


def test_three_kinds_of_tasks_have_the_figures_of_transformers(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    tasks = asked(tmp_path)
    ours = run_tasks(load_generator(tmp_path / "model"), list(KINDS), tasks)["results"]
    # with logits_cache the class takes one window's scores for another with the same tokens of which less is asked
    judge = f"pretrained={tmp_path}/model,dtype=float32,logits_cache=False"
    theirs = simple_evaluate(
        "hf", judge, tasks=list(KINDS), batch_size=4, device="cpu", verbosity="ERROR",
        task_manager=TaskManager(include_path=str(tasks)), log_samples=False, bootstrap_iters=1000,
    )["results"]  # fmt: skip
    same(ours, theirs)
    # and the harness' own class for transformers runs on badak, unchanged
    command = [sys.executable, "-m", "badak", "run", "-m", "lm_eval", "run", "--model", "hf", "--model_args", judge]
    command += ["--tasks", *KINDS, "--include_path", str(tasks), "--batch_size", "4", "--device", "cpu"]
    command += ["--output_path", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    (told,) = (tmp_path / "out").rglob("results*.json")
    same(json.loads(told.read_text())["results"], theirs)


def test_the_harness_asks_a_server_and_gets_the_same_figures(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    tasks = asked(tmp_path, context=256)
    ours = run_tasks(load_generator(tmp_path / "model"), list(KINDS), tasks)["results"]
    with served([str(tmp_path / "model")]) as server:
        place = f"model=model,base_url={server.url}/v1/completions,tokenizer={tmp_path}/model,tokenizer_backend=huggingface"
        theirs = simple_evaluate(
            "local-completions", f"{place},max_length=256", tasks=list(KINDS), batch_size=4, verbosity="ERROR",
            task_manager=TaskManager(include_path=str(tasks)), log_samples=False, bootstrap_iters=1000,
        )["results"]  # fmt: skip
    same(ours, theirs)


ROW = {"q": "the cat", "choices": ["a", "b"], "label": 0}
ACC = "metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]\n"
CODE = {  # the end of a file of tasks -> what is said
    ACC + "doc_to_text: !function utils.run\n": "a function of Python",
    ACC + 'metadata: {"a": "#", "b": !function utils.run}\ndoc_to_text: q\n': "a function of Python",
    ACC + "doc_to_text: !%66unction utils.run\n": "a function of Python",
    ACC + "include: ../outside/b.txt\n": "a function of Python",
    "doc_to_text: q\nmetric_list: [{metric: ./evil, aggregation: mean, higher_is_better: true}]\n": "lm_eval has no metric",
    "doc_to_text: q\nmetric_list: [{metric: acc, hf_evaluate: true}]\n": "lm_eval has no metric",
    ACC + "doc_to_text: \"{{ ''.__class__.__mro__ }}\"\n": "",
}


@pytest.mark.parametrize("end", CODE)
def test_files_of_tasks_run_no_code(end, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    written(tmp_path / "model")
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    code = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\ndef run(doc): return 'q'\n"
    for name in ("tasks/utils.py", "tasks/evil.py", "tasks/evil/evil.py", "outside/utils.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(code)
    (tmp_path / "outside" / "b.txt").write_text("doc_to_text: !function utils.run\n")
    begin = f"task: mine\ndataset_path: json\ndataset_kwargs: {{data_files: {{validation: {tmp_path}/rows.jsonl}}}}\n"
    begin += "validation_split: validation\noutput_type: multiple_choice\ndoc_to_choice: '{{choices}}'\ndoc_to_target: label\n"
    (tmp_path / "tasks" / "mine.yaml").write_text(begin + end)
    with pytest.raises(Exception) as told:  # the sandbox raises Jinja's own error
        run_tasks(load_generator(tmp_path / "model"), ["mine"], tmp_path / "tasks")
    assert CODE[end] in str(told.value) and not (tmp_path / "ran").exists(), told.value
