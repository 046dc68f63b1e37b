"""transformers: chat templates"""

from tiny import tokenizer

NEEDS = ["jinja2"]


def template():
    """a chat template as tensors"""
    maker = tokenizer()
    maker.chat_template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}"
    talk = [{"role": "user", "content": "the cat"}, {"role": "assistant", "content": "a dog"}]
    found = maker.apply_chat_template(talk, return_tensors="pt", return_dict=True)
    return {name: x.tolist() for name, x in found.items()}
