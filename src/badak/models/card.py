"""README.md of a model: what it is, and what it was made of as far as that is known."""

from collections.abc import Mapping, Sequence

from badak.core.errors import visible

TASKS = {  # what the Hub calls the task of an architecture
    "GPT2LMHeadModel": "text-generation",
    "LlamaForCausalLM": "text-generation",
    "MistralForCausalLM": "text-generation",
    "Qwen2ForCausalLM": "text-generation",
    "Qwen3ForCausalLM": "text-generation",
    "BertForMaskedLM": "fill-mask",
    "BertForSequenceClassification": "text-classification",
    "MarianMTModel": "translation",
    "BlenderbotForConditionalGeneration": "translation",
}
LICENCE = "None is given here: whoever publishes this model chooses one, with regard to the texts and weights that it was made of."


def card_of(architecture: str, title: str = "A model of badak", sections: Mapping[str, Sequence[str]] | None = None) -> str:
    """The model card of an architecture: sections of lines under their headings, and a place for the licence at the end."""
    task = TASKS.get(architecture)
    head = ["---", "library_name: transformers", *([f"pipeline_tag: {task}"] if task else []), "tags:", "- badak", "---"]
    text = [*head, "", f"# {title}", "", f"{architecture}, written by badak."]
    for name, lines in (sections or {}).items():
        text += ["", f"## {name}", "", *lines]
    return visible("\n".join([*text, "", "## Licence", "", LICENCE]) + "\n")  # a name in it may be anybody's
