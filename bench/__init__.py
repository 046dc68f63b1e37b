"""Measuring badak: see README.md."""
