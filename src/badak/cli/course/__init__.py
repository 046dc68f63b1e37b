"""A course of exercises that run inside badak. `badak learn` is its command.

exercise.py   what an exercise is: text, solution, cases, mistakes
exercises/    one file for each, in their order
course.py     the list, and a learner's folder with files and progress
check.py      cases, a trial, and which mistake a wrong result looks like
compare.py    two results next to each other
trial.py      a small model that trains with the learner's function
worker.py     the process that runs the learner's program; run.py starts it
notebook.py   an exercise as a notebook
report.py     a summary for a lecturer
path.py       `badak path`: from a tokenizer to a model that chats
"""
