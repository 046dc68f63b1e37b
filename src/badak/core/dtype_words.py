"""PyTorch's other words for dtypes, which its messages use: float16 is Half, and c10::Half in C++."""

WORDS = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long", "float16": "Half",
    "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64", "float8_e4m3fn": "Float8_e4m3fn", "float8_e5m2": "Float8_e5m2",
    "float8_e4m3fnuz": "Float8_e4m3fnuz", "float8_e5m2fnuz": "Float8_e5m2fnuz", "float8_e8m0fnu": "Float8_e8m0fnu",
}  # fmt: skip
_IN_CPP = {
    "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int", "int64": "long int", "float32": "float",
    "float64": "double", "bool": "bool", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def in_cpp(name: str) -> str:
    """The C++ type of a dtype: float for float32, c10::Half for float16."""
    return _IN_CPP.get(name) or f"c10::{WORDS.get(name, name)}"
