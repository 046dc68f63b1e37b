"""Measuring: where the time of a step goes, and how long it takes next to another library.

`profile` counts the operations of a program, `worker` and `peer` time the same work in processes that take turns, and
`contest` is the work that `badak bench` gives them.
"""
