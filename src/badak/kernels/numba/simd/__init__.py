"""Inner loops in vector instructions: products (`gemm`, `tiles`, `dots`), softmax (`columns`), exp and its like (`functions`)."""
