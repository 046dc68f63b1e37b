"""Rows of the table of samples, one file a family of ops: see tests/samples.py."""
