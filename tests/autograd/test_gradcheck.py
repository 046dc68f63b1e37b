"""gradcheck finds a wrong gradient, passes a right one, and says where they differ."""

import pytest
import torch

import badak

both = pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])


def wrong_square(lib):
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensors
            return dy * x  # the 2 is missing

    return Square.apply


def leaf(lib, *shape):
    return lib.rand(*shape, dtype=lib.float64, requires_grad=True)


@both
def test_a_right_gradient_passes(lib):
    assert lib.autograd.gradcheck(lambda x, w: (x @ w).tanh(), (leaf(lib, 2, 3), leaf(lib, 3, 2)))


@both
def test_a_wrong_gradient_is_found(lib):
    with pytest.raises(RuntimeError, match="[Jj]acobian"):
        lib.autograd.gradcheck(wrong_square(lib), (leaf(lib, 3),))
    assert lib.autograd.gradcheck(wrong_square(lib), (leaf(lib, 3),), raise_exception=False) is False


@both
def test_several_outputs_are_all_checked(lib):
    def f(x):
        return x.sin(), wrong_square(lib)(x)

    assert not lib.autograd.gradcheck(f, (leaf(lib, 2),), raise_exception=False)


@both
def test_inputs_without_gradient_are_left_alone(lib):
    assert lib.autograd.gradcheck(lambda x, k: x * k, (leaf(lib, 3), lib.ones(3, dtype=lib.float64)))


@both
def test_something_must_require_a_gradient(lib):
    with pytest.raises(ValueError, match="require"):
        lib.autograd.gradcheck(lambda x: x * 2, (lib.ones(2, dtype=lib.float64),))


COMPLEX = {
    "conjugate": (lambda lib, z: z.conj() * z * z, [(2, 3)]),
    "absolute": (lambda lib, z: z.abs(), [(2, 3)]),
    "to complex": (lambda lib, x: lib.complex(x, x * x), [3]),
    "padded": (lambda lib, z: lib.nn.functional.pad(z, (1, 1), mode="replicate"), [(1, 2, 3)]),
    "transformed": (lambda lib, z: lib.fft.fft(z), [(4,)]),
}


@both
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_are_checked_in_both_parts(lib, name):
    function, (shape,) = COMPLEX[name]
    dtype = lib.complex128 if isinstance(shape, tuple) else lib.float64
    z = lib.randn(shape, dtype=dtype, requires_grad=True)
    assert lib.autograd.gradcheck(lambda z: function(lib, z), z)
    assert lib.autograd.gradgradcheck(lambda z: function(lib, z), z)


@both
def test_a_conjugate_that_a_backward_forgot_is_found(lib):
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx, dy):
            (z,) = ctx.saved_tensors
            return dy * 2 * z  # of z.conj()

    class Turned(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2j

        @staticmethod
        def backward(ctx, dy):
            return dy * -2j  # of which the real part is the gradient

    z = lib.randn(3, dtype=lib.complex128, requires_grad=True)
    y = Square.apply(z)
    assert y.requires_grad and lib.equal(lib.autograd.grad(y, z, lib.ones_like(y))[0], 2 * z)
    for fast in (False, True):
        assert not lib.autograd.gradcheck(Square.apply, z, raise_exception=False, fast_mode=fast)
    with pytest.raises(RuntimeError):
        Turned.apply(lib.ones(2, requires_grad=True)).sum().backward(lib.tensor(1j))


@pytest.mark.parametrize("fast", [True, False])
def test_outputs_of_another_kind_nearby_are_refused(fast):
    for lib in (badak, torch):
        for what, far in (("shape", lambda x: x.repeat(2)), ("dtype", lambda x: x.float())):  # noqa: B007
            x = lib.ones(1, dtype=lib.float64, requires_grad=True)
            with pytest.raises(AssertionError, match=f"outputs with the same {what} when inputs are perturbed"):
                lib.autograd.gradcheck(lambda x, far=far: far(x) if (x >= 1).all() else x, (x,), fast_mode=fast)


def test_forward_mode_is_checked_where_it_is_asked_for():
    class Twice(badak.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * 2

        @staticmethod
        def vjp(ctx, dy):
            return 2 * dy, None

        @staticmethod
        def jvp(ctx, dx, _):
            return dx * ctx.factor

    x = badak.rand(3, dtype=badak.float64, requires_grad=True)
    z = badak.rand(2, dtype=badak.complex128, requires_grad=True)
    assert badak.autograd.gradcheck(Twice.apply, (x, 2), check_forward_ad=True)
    assert badak.autograd.gradcheck(Twice.apply, (x, 3))
    assert badak.autograd.gradcheck(lambda z: (z * z).real, z, check_forward_ad=True)
    assert badak.autograd.gradgradcheck(badak.sin, x, check_fwd_over_rev=True)
    for backward in (True, False):
        with pytest.raises(RuntimeError, match="Jacobian computed with forward mode mismatch for output 0 with respect to input 0"):
            badak.autograd.gradcheck(Twice.apply, (x, 3), check_forward_ad=True, check_backward_ad=backward)
    with pytest.raises(TypeError, match="unexpected keyword argument 'check_all'"):
        badak.autograd.gradcheck(badak.sin, x, check_all=True)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # PyTorch itself calls it
@pytest.mark.parametrize("options", [{}, {"fast_mode": True}, {"check_forward_ad": True}], ids=str)
def test_single_floats_are_warned_of(options):
    for lib in (torch, badak):
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
            assert lib.autograd.gradcheck(lambda x: x * 2, x, eps=0.25, atol=1e-3, **options)
        with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="Jacobian mismatch|analytical"):
            lib.autograd.gradcheck(lambda x: x**2 + x.detach() * 100, x, **options)


@pytest.mark.parametrize("lib", [torch, badak])
def test_outputs_that_lead_to_no_input_must_not_change_with_one(lib):
    x = lib.ones(2, dtype=lib.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        lib.autograd.gradcheck(lambda x: x.detach() * 2, x)
    assert lib.autograd.gradcheck(lambda x: x.detach() * 0, x) and lib.autograd.gradcheck(lambda x: (), x)


@pytest.mark.parametrize("lib", [torch, badak])
@pytest.mark.parametrize("part", ["imaginary", "real"])
def test_the_part_of_a_complex_output_that_is_wrong_is_named(lib, part):
    x = lib.ones(2, dtype=lib.float64, requires_grad=True)

    def function(x):
        parts = (x, x * 2 - x.detach())
        return lib.complex(*(parts if part == "imaginary" else parts[::-1]))

    with pytest.raises(RuntimeError, match=f"While considering the {part} part of complex outputs only, Jacobian mismatch"):
        lib.autograd.gradcheck(function, x)


@both
@pytest.mark.parametrize("fast_mode", [True, False])
def test_a_backward_that_gives_another_gradient_each_time(lib, fast_mode):
    class Noisy(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, dy):
            return dy * (1 + lib.rand_like(dy) * 1e-6)

    x = lib.ones(3, dtype=lib.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="Backward is not reentrant"):
        lib.autograd.gradcheck(Noisy.apply, x, check_batched_grad=False, fast_mode=fast_mode)
    assert lib.autograd.gradcheck(Noisy.apply, x, nondet_tol=1e-4, check_batched_grad=False, fast_mode=fast_mode)
