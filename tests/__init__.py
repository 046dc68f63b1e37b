"""The proof: tests mirror the package, one folder a room."""
