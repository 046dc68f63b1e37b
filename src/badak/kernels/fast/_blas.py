"""The one file that names the BLAS: single-threaded OpenBLAS, called from compiled code on strided views.

All threading is ours: each task of a kernel multiplies its own tile on its own thread.
"""

import ctypes
import os

import numpy as np
import scipy_openblas32 as _openblas

from badak.kernels.fast._jit import extern, kernel, link, overload

__all__ = ["describe_blas", "gemm", "matrix_view"]

_path = _openblas.get_library(fullname=True)
_library = ctypes.CDLL(_path if os.path.isabs(_path) else os.path.join(_openblas.get_lib_dir(), _path))
_library.scipy_openblas_set_num_threads(1)
link("badak_sgemm", _library.scipy_cblas_sgemm)
link("badak_dgemm", _library.scipy_cblas_dgemm)
# layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
_sgemm, _dgemm = extern("badak_sgemm", "iiiiiifpipifpi"), extern("badak_dgemm", "iiiiiidpipidpi")

_ROW_MAJOR, _AS_IS, _TRANSPOSED = np.int32(101), np.int32(111), np.int32(112)


@kernel
def _order(a):
    """(how to read the matrix a, its leading dimension in elements), for BLAS."""
    rows, columns = a.shape
    if a.strides[1] == a.itemsize or columns == 1:
        return _AS_IS, np.int32(max(a.strides[0] // a.itemsize, columns, 1))
    return _TRANSPOSED, np.int32(max(a.strides[1] // a.itemsize, rows, 1))


def gemm(alpha, a, b, beta, c):
    """c = alpha a b + beta c for matrices a (M, K), b (K, N), c (M, N), in place; beta = 0 does not read c.

    One of the two strides of a and of b must be one element (`matrix_view` sees to it), and the last stride of c.
    """
    scaled = c * beta if beta else 0
    c[...] = (a @ b) * c.dtype.type(alpha) + scaled


@overload(gemm)
def _(alpha, a, b, beta, c):
    call = _sgemm if c.dtype.bitwidth == 32 else _dgemm

    def run(alpha, a, b, beta, c):
        if a.shape[1] == 0:
            for m in range(c.shape[0]):
                for n in range(c.shape[1]):
                    c[m, n] = c[m, n] * beta if beta != 0 else 0
        elif c.size > 0:
            a_order, a_step = _order(a)
            b_order, b_step = _order(b)
            c_step = np.int32(max(c.strides[0] // c.itemsize, c.shape[1]))
            call(
                _ROW_MAJOR,
                a_order,
                b_order,
                np.int32(c.shape[0]),
                np.int32(c.shape[1]),
                np.int32(a.shape[1]),
                alpha,
                a.ctypes,
                a_step,
                b.ctypes,
                b_step,
                beta,
                c.ctypes,
                c_step,
            )

    return run


def matrix_view(x):
    """x (..., M, K) itself where BLAS can read its matrices in place, else a contiguous copy."""
    flags = x.flags
    if flags.c_contiguous or (flags.f_contiguous and x.ndim == 2):
        return x
    rows, columns = x.shape[-2:]
    down, along = x.strides[-2:]
    item = x.itemsize
    as_is = (along == item or columns == 1) and (down >= columns * item or rows == 1) and down % item == 0
    if as_is or ((down == item or rows == 1) and (along >= rows * item or columns == 1) and along % item == 0):
        return x
    return np.ascontiguousarray(x)


def describe_blas():
    """Name and version of the BLAS, and the kind of core that it chose its kernels for."""
    _library.scipy_openblas_get_corename.restype = ctypes.c_char_p
    return f"OpenBLAS {_openblas.__version__} ({_library.scipy_openblas_get_corename().decode()})"
