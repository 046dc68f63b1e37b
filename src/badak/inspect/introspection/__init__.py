"""Looking down from code: `sources.py` says where a name is written, `summary.py` what a model costs, `draw.py` shows
the graph that made a tensor. Everything is read from the code and from what runs, so that it cannot go stale.
"""
