"""Where badak and PyTorch may differ, and why. A reason that no sample needs any more fails the tests."""

from typing import NamedTuple

from tests import tiers

# Families of names that are not looked at: internals of PyTorch, tests of its own machinery, and rooms that badak lacks.
ROOMS = ("_", "ops.", "torch.ops", "jiterator", "sparse")

# Names whose results are not determined.
RANDOM = {
    "empty": "memory as it was",
    "empty_like": "memory as it was",
    "empty_permuted": "memory as it was",
    "empty_strided": "memory as it was",
    "new_empty": "memory as it was",
    "new_empty_strided": "memory as it was",
    "rand_like": "op_db calls randn_like under this name",
}


class Reason(NamedTuple):
    """Samples of `name` may differ where the difference reads like `sign`."""

    name: str
    sign: str
    why: str


REAL_ONLY = "refused: real numbers only"
TIES = "which of equal values is named is not promised"
# What lies in memory as LAPACK, an FFT or a sort has left it in PyTorch; here it is row-major, of which every view exists.
LIBRARIES = ("fft.", "linalg.", "cholesky", "geqrf", "lu", "ormqr", "qr", "quantile", "svd", "triangular_solve")
ONE = "an axis of size 1 has no order in memory; PyTorch remembers what it was in"
HERMITIAN = "the same for symmetric changes of A, and it is given as their mean; PyTorch's is not symmetric"
CANCELS = "the gradient is a difference of nearly equal terms: what rounding leaves of it is larger than it is"
SERIES = "PyTorch's trigamma stops its series at a relative error of 1e-9"
STORAGE = "the sample is a view, and what lies beside it in memory is not carried over"

SLOPPY = "PyTorch's Bessel and Airy functions are up to 2e-6 off in float64; tests/sample_rows/bessel.py asks mpmath"

OPS = [
    *[
        Reason(f"special.{name}", "values differ", SLOPPY)
        for name in ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1")
    ],
    Reason("as_strided/partial_views", "", STORAGE),
    Reason("as_strided_scatter", "gradient 0", "0 where it is replaced; PyTorch keeps the gradient there, and nowhere else"),
    Reason("corrcoef", "gradient 0", CANCELS),
    Reason("cov", "aweights=float32", "PyTorch multiplies float32 weights in float32, also for float64"),
    Reason("digamma", "gradient 0", SERIES),
    Reason("special.polygamma/special_polygamma_n_0", ", 1", SERIES),
    *[Reason(f"polygamma/polygamma_n_{n}", ", 1", SERIES) for n in range(5)],
    Reason("logcumsumexp", "gradient 0", "PyTorch adds what is above 0 and what is below it apart"),
    Reason("logcumsumexp", "expected real numbers", REAL_ONLY),
    Reason("addbmm", "For integral input tensors", "refused: PyTorch cuts the fractions of beta and alpha without a word"),
    Reason("addmv", "For integral input tensors", "refused: PyTorch cuts the fractions of beta and alpha without a word"),
    Reason("baddbmm", "For integral input tensors", "refused: PyTorch cuts the fractions of beta and alpha without a word"),
    Reason("kthvalue", "result[1]: other values", TIES),
    Reason("topk", "result[1]: other values", TIES),
    Reason("mode", "result[1]: other values", TIES),
    Reason("cholesky_inverse", "gradient 0", "PyTorch's is not 0 for the half of L that neither reads"),
    Reason("cholesky_solve", "gradient 1", "PyTorch's is not 0 for the half of L that neither reads"),
    Reason("linalg.cholesky_ex", "gradient 0", HERMITIAN),
    Reason("pca_lowrank", "gradient", CANCELS),
    Reason("svd_lowrank", "gradient", CANCELS),
    Reason("linalg.householder_product", "gradient 0", CANCELS),
    Reason("linalg.pinv/hermitian", "gradient 0", HERMITIAN),
    Reason("cholesky", "gradient 0", HERMITIAN),
    Reason("linalg.cholesky", "gradient 0", HERMITIAN),
    Reason("logaddexp", "logaddexp: expected real numbers", REAL_ONLY),
    Reason("nn.functional.avg_pool1d", "expected a floating dtype; got badak.int64", "refused: the mean of ints is no int"),
    Reason("nn.functional.avg_pool2d", "expected a floating dtype; got badak.int64", "refused: the mean of ints is no int"),
    Reason("nn.functional.avg_pool3d", "expected a floating dtype; got badak.int64", "refused: the mean of ints is no int"),
    Reason("nn.functional.triplet_margin_with_distance_loss", "was given tensors of badak", "the distance is a layer of PyTorch's"),
    Reason("istft", "gradient 1 is too many", "PyTorch gives the window no gradient there"),
    Reason("nn.functional.batch_norm", "expected input (N, C, ...); got (0,)", "refused: without channels there is no norm"),
    Reason("nn.functional.ctc_loss", "gradient 0", "PyTorch's is exp(log_probs) more, which log_softmax takes off"),
    Reason("nn.functional.hardsigmoid", "gradient 0", "PyTorch's 1/6 is a float32, also in float64"),
    Reason("nn.functional.layer_norm", "gradient 0", CANCELS),
    Reason("nn.functional.local_response_norm", "could not infer output dtype", "refused: the mean of ints is no int"),
    Reason("nn.functional.normalize", "gradient 0", CANCELS),
    Reason("nn.functional.rms_norm", "expected a floating dtype; got badak.complex128", REAL_ONLY),
    Reason("nn.functional.scaled_dot_product_attention", "gradient 0", CANCELS),
    *[Reason(f"nn.functional.max_unpool2d{variant}", "strides", ONE) for variant in ("", "/grad")],
]

MODULES = [
    Reason("TransformerEncoder", "is not a Module subclass", "its argument is a layer of PyTorch's; that layer itself is compared"),
    Reason(
        "RNN", "gradient", "1 - tanh(x)^2 where tanh is nearly 1: what rounding leaves of it is larger than it is, in PyTorch, too"
    ),
]
OPTIMIZERS = [
    *[
        Reason(name, "{'lr': tensor(0.0010)} (float64)", "PyTorch multiplies a rate that is a float32 tensor in float32")
        for name in ("Muon", "SparseAdam")
    ],
    Reason("LBFGS", "times what rounding explains", "near the minimum it divides by differences of gradients, which are rounding"),
]
ROUNDED = "what is left of a gradient of 0 differs"
NO_COMPLEX32 = "complex32 is not there"
HALVES = [  # float16 and bfloat16
    *[reason for reason in OPS if reason.name in ("as_strided/partial_views", "as_strided_scatter", "topk", "mode")],
    *[reason for reason in OPS if reason.name == "nn.functional.triplet_margin_with_distance_loss"],
    *[reason for reason in OPS if reason.name.startswith(("nn.functional.batch_norm", "nn.functional.max_unpool2d"))],
    *[Reason(name, "result[", TIES) for name in ("sort", "argsort")],
    Reason("msort", "gradient 0", TIES),
    Reason("complex", "got badak.float16", NO_COMPLEX32),
    Reason("view_as_complex", "float16", NO_COMPLEX32),
    Reason("cov", "gradient 1", ROUNDED),
    Reason("special.ndtr", "for 0 (PyTorch 0)", "PyTorch gives 0 below -8, where the tail has 1e-17"),
    Reason("nn.functional.feature_alpha_dropout/with_train", "result[0]", "PyTorch rounds what it adds before it adds it"),
    Reason("nn.functional.linear_cross_entropy/chunked_none", "supports float32 acc_dtype", "PyTorch's has no float64 there"),
    Reason("nn.functional.rms_norm", "gradient 0", ROUNDED),
    Reason("special.ndtr", "1.07336e-17 for 0", "PyTorch's is 0 so far below"),
]
HALF_MODULES = [
    *[reason for reason in MODULES if reason.name == "TransformerEncoder"],
    Reason("FractionalMaxPool3d", "result[0]", "where windows begin is computed in float32 from 16-bit draws"),
]


def unexplained(table: list[Reason], name: str, wrong: list[str]) -> list[str]:
    """What of `wrong` no reason explains, and the reasons of `name` that no sample needed: where all were looked at."""
    reasons = [reason for reason in table if reason.name == name]
    left = [f"{name}: {text}" for text in wrong if not any(reason.sign in text for reason in reasons)]
    idle = [f"{name}: the reason {r.sign!r} is not needed any more" for r in reasons if not any(r.sign in text for text in wrong)]
    return left + idle * (tiers.chosen == "nightly")
