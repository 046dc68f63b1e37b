"""The meaning of every kernel, in NumPy. One family per file."""
