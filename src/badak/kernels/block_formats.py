"""Weights in blocks along the inputs, as the bytes of ggml's formats: what GGUF files hold is multiplied as it lies.

    q8_0    32 numbers: scale d (float16), 32 int8 q                          w = d q                            8.5 bits
    q4_0    32 numbers: scale d (float16), 32 nibbles q                       w = d (q - 8)                      4.5 bits
    q4_k    256 numbers: d, dmin (float16), 8 scales s and minima m of
            6 bits, 256 nibbles q in 8 parts of 32                            w = (d s) q - (dmin m)             4.5 bits
    q6_k    256 numbers: 6 bits q, 16 int8 scales s of 16 numbers,
            d (float16)                                                       w = (d s) (q - 32)             6.6 bits, is only read

The last block of a row is filled up with zeros where the inputs are no whole blocks; GGUF has no such rows.
Source: ggml's ggml-quants and the package gguf, which tests compare with, byte by byte.
"""

from typing import NamedTuple

PART = 32  # numbers that have a scale, in every format; inputs are rounded in parts of so many, too
TOGETHER = 16  # parts that kernels take at once


class BlockFormat(NamedTuple):
    """One format. code: its number in GGUF files and for kernels; size, width: numbers and bytes of a block; shift: what is
    taken from numbers without sign, 0 where the format has minima; written: whether badak makes such blocks."""

    name: str
    code: int
    size: int
    width: int
    shift: int
    written: bool

    def row(self, inputs: int) -> int:
        """Bytes of a row of so many numbers."""
        return -(-inputs // self.size) * self.width


FORMATS = {
    one.name: one
    for one in (
        BlockFormat("q8_0", 8, 32, 34, 128, True),
        BlockFormat("q4_0", 2, 32, 18, 8, True),
        BlockFormat("q4_k", 12, 256, 144, 0, False),
    )
}
READ = {"q6_k": BlockFormat("q6_k", 14, 256, 210, 32, False)}  # in files alone: it becomes q8_0, for which there are products
ALSO = {"q8": "q8_0", "q4": "q4_0"}  # shorter names
