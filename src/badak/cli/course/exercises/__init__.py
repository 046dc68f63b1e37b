"""The exercises, one file for each. The number in the name is the order."""
