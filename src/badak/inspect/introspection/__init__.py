"""Looking down from code: `floor.py` says where a name is written on each floor, `summary.py` what a model weighs, `draw.py` shows
the graph that made a tensor. Everything is read from the code and from what runs, so that it cannot go stale.
"""
