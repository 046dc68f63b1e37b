"""The names of grad_fn, as PyTorch prints them."""

import pytest
import torch

import badak

EXPRESSIONS = """x+1 | x+x | 1-x | x-x | x*2 | x*x | x/2 | x/x | 1/x | -x | x**2 | x**0.5 | 2**x | x**x | x@w | x.mm(w) |
x.matmul(w) | x.sum() | x.sum(0) | x.mean() | x.mean(1) | x.prod() | x.prod(0) | x.amax() | x.amax(1) | x.amin() |
x.std() | x.var() | x.var(0) | x.norm() | x.norm(1) | x.norm(dim=1) | x.exp() | x.log() | x.sqrt() | x.rsqrt() |
x.sin() | x.cos() | x.tan() | x.tanh() | x.sigmoid() | x.relu() | x.abs() | x.sign() | x.floor() | x.ceil() |
x.round() | x.clamp(0,1) | x.clamp(min=0) | x.reciprocal() | x.square() | x.pow(3) | x.erf() | x.log1p() |
x.expm1() | x.log2() | x.log10() | x.exp2() | x.asin() | x.acos() | x.atan() | x.sinh() | x.cosh() | x.lgamma() |
x.view(6) | x.reshape(6) | x.reshape(3,2) | x.T | x.transpose(0,1) | x.permute(1,0) | x.flatten() | x[0] | x[0,1] |
x[:,1] | x[...,0] | x[[0,1]] | x[x>0] | x[lib.tensor([0])] | x.select(0,1) | x.expand(2,2,3) | x.repeat(2,1) |
x.clone() | x.t().contiguous() | x.double() | x.to(lib.float64) | x.half() | lib.cat([x,x]) | lib.stack([x,x]) |
lib.where(x>0,x,x*0) | lib.bmm(x[None],w[None]) | x.chunk(2,1)[0] | x.split(1)[1] | x.unbind()[0] | x.diagonal() |
x.triu() | x.tril() | x.cumsum(0) | x.cumprod(0) | x.gather(0,lib.tensor([[0,1,0]])) |
x.index_select(0,lib.tensor([1])) | x.masked_fill(x>0,0.) | x.masked_select(x>0) |
x.scatter(0,lib.tensor([[0,1,0]]),1.) | x.scatter_add(0,lib.tensor([[0,1,0]]),x[:1]) | x.flip(0) | x.roll(1,0) |
x.softmax(1) | x.log_softmax(1) | F.softmax(x,1) | F.relu(x) | F.gelu(x) | F.silu(x) | F.softsign(x) |
F.tanhshrink(x) | F.dropout(x,0.5) | F.linear(x,w.t()) | F.linear(x,w.t(),b2) | F.layer_norm(x,(3,)) |
F.rms_norm(x,(3,)) | F.mse_loss(x,x*2) | F.l1_loss(x,x*2) | F.cross_entropy(x,lib.tensor([0,1])) |
F.nll_loss(x,lib.tensor([0,1])) | F.binary_cross_entropy_with_logits(x,(x>0).float()) | F.cosine_similarity(x,x*2) |
F.normalize(x) | F.conv1d(x[None],w[None].transpose(1,2)[:,:2]) | F.conv2d(im,ker) | F.max_pool2d(im,2) |
F.conv_transpose2d(im,ker) |
F.avg_pool2d(im,2) | F.adaptive_avg_pool2d(im,1) | F.pad(x,(1,1)) | F.embedding(lib.tensor([0,1]),x) |
lib.addmm(b2,x,w) | lib.addcmul(x,x,x) | lib.addcdiv(x,x,x) | lib.lerp(x,x*2,0.5) | lib.outer(x[0],x[1]) |
lib.dot(x[0],x[1]) | lib.mv(x,x[0]) | lib.logsumexp(x,1) | lib.maximum(x,x*0) | lib.minimum(x,x*0) | lib.fmod(x,2) |
lib.remainder(x,2) | lib.atan2(x,x) | lib.linalg.inv(sq) | lib.linalg.det(sq) | lib.linalg.solve(sq,sq) |
lib.linalg.cholesky(sq) | lib.linalg.qr(sq)[0] | lib.linalg.svd(sq)[0] | lib.linalg.eigh(sq)[0] |
lib.linalg.norm(x) | lib.linalg.vector_norm(x) | lib.view_as_complex(x[:,:2].contiguous()) | lib.complex(x,x) |
x.unfold(1,2,1) | x.movedim(0,1) | x.tile(2) | x.nanmean() | x.cummax(0)[0] | lib.meshgrid(x[0],x[1])[0] |
lib.cosine_similarity(x,x*2,dim=0) | x.logit() | x.sigmoid().logit() | x.log_softmax(0) | x.angle() | x.trunc() |
x.frac() | x.index_fill(0,lib.tensor([0]),1.) | x.index_add(0,lib.tensor([0]),x[:1]) |
x.index_copy(0,lib.tensor([0]),x[:1]) | x.masked_scatter(x>0,x) | x.take(lib.tensor([0])) | x.as_strided((2,),(1,)) |
F.hinge_embedding_loss(x,x.sign()) | F.triplet_margin_loss(x,x,x) | F.poisson_nll_loss(x,x.detach()) |
F.gaussian_nll_loss(x,x,x.abs()) | x.i0() | x.erfinv() | x.erfc() | x.sinc() | x.swapaxes(0,1) | x.ravel() |
lib.fft.fft(lib.complex(x,x)) | lib.fft.rfft(x) | lib.fft.irfft(x) | lib.fft.fft(x).real | lib.fft.fft(x).imag |
lib.linalg.pinv(sq) | lib.linalg.slogdet(sq)[1] | lib.matrix_exp(sq) | x.logcumsumexp(0) |
x.view_as(x) | x.unflatten(1,(1,3)) | x.broadcast_to(2,2,3) | x.sum((0,1)) | x.std(1)"""


def shown(lib, expression: str) -> str:
    lib.manual_seed(0)
    x = lib.tensor([[0.3, 0.7, 0.2], [0.5, 0.1, 0.9]], requires_grad=True)
    made = {name: lib.ones(*shape, requires_grad=True) for name, shape in SHAPES.items()}
    square = (lib.eye(3) * 2 + 0.1).requires_grad_()
    y = eval(expression, {"lib": lib, "x": x, "F": lib.nn.functional, "sq": square, **made})
    return type(y.grad_fn).__name__


SHAPES = {"w": (3, 2), "b2": (2,), "im": (1, 1, 4, 4), "im4": (1, 4, 2, 2), "ker": (1, 1, 2, 2)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", [each.strip() for each in EXPRESSIONS.replace("\n", " ").split(" | ")])
def test_a_history_has_pytorchs_name(expression):
    assert shown(badak, expression) == shown(torch, expression)


def test_it_has_one_after_backward_too():
    x = badak.ones(2, 2, requires_grad=True)
    y = x @ x
    y.sum().backward()
    assert repr(y).endswith("grad_fn=<MmBackward0>)")


KEYS = [
    (0, "Select"), (slice(1, 2), "Slice"), ((0, slice(0, 2)), "Slice"), ((slice(1, 2), 0), "Select"), ((..., 0), "Select"),
    (None, "Unsqueeze"), ((0, None), "Unsqueeze"), (slice(None), "Alias"), ((0, slice(None)), "Select"),
]  # fmt: skip


@pytest.mark.parametrize("key, name", KEYS)
def test_an_index_is_named_after_the_last_of_its_views(key, name):
    assert badak.ones(3, 4, requires_grad=True)[key].grad_fn.name() == f"{name}Backward0"


def test_classes_of_histories_say_where_pytorch_has_them():
    class Twice(badak.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

    x = badak.ones(2, requires_grad=True)
    assert str(type(x.sum().grad_fn)) == "<class 'SumBackward0'>"
    assert str(type(Twice.apply(x).grad_fn)) == "<class 'badak.autograd.function.TwiceBackward'>"


SAVED = """x.exp() result | x*x self other | x**2 self exponent | x**x self exponent result | 2**x exponent result |
x@w self mat2 | x.relu() result | x.log() self | x.softmax(1) result | x.clamp(0, 1) self min max | x.sum(0).norm() self result |
(x.exp()*x.cos()) self other | x.std(1) self result"""


@pytest.mark.parametrize("case", [" ".join(case.split()) for case in SAVED.split("|")])
def test_what_is_saved_has_pytorchs_names(case):
    expression, *names = case.split(" ") if not case.startswith("x.clamp") else ["x.clamp(0, 1)", "self", "min", "max"]
    found = []
    for lib in (badak, torch):
        x = lib.tensor([[0.5, 1.5, 2.0], [0.25, 0.75, 1.0]], requires_grad=True)
        w = lib.ones(3, 2, requires_grad=True)
        node = eval(expression, {"x": x, "w": w}).grad_fn
        assert {f"_saved_{name}" for name in names} <= set(dir(node))
        kept = [getattr(node, f"_saved_{name}") for name in names]
        found.append([(y.tolist(), y is x, y.requires_grad, y.grad_fn is node) if hasattr(y, "tolist") else y for y in kept])
    for ours, theirs in zip(*found):
        if isinstance(theirs, tuple):
            assert ours[1:] == theirs[1:]
            torch.testing.assert_close(torch.tensor(ours[0]), torch.tensor(theirs[0]))
        else:
            assert ours == theirs


def test_what_is_saved_is_told_until_it_is_freed_or_changed():
    for lib in (badak, torch):
        x = lib.ones(2, requires_grad=True)
        y = x.exp()
        assert y.grad_fn._saved_result.grad_fn is y.grad_fn and not hasattr(y.grad_fn, "_saved_other")
        y.sum().backward()
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            _ = y.grad_fn._saved_result
        z = x.exp()
        seen = z.grad_fn._saved_result
        with lib.no_grad():
            z += 1
        assert seen.tolist() == z.tolist() and seen._version == z._version == 1
        z = x.exp()
        z.add_(1) if lib is badak else z.detach().add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            _ = (z.grad_fn.next_functions[0][0] if lib is badak else z.grad_fn)._saved_result
