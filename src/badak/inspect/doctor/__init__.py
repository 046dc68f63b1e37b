"""doctor: what is wrong with a training, told from its first steps.

with badak.doctor() as checkup:            badak doctor train.py
    train()
checkup.ok, checkup.findings, print(checkup), checkup.to_html()

doctor.py      the entry: `badak.doctor`
facts.py       what was seen in a step: calls of models, losses, look-ups, attentions, backwards, gradients
watch.py       sees them: an observer of events, which measures and does not judge
collectors.py  what is measured at single operations: attentions, rectifiers, data that comes in
losses.py      what is measured of losses, those of several operations and of picked logarithms, too
collated.py    whether what puts a batch together keeps rows and labels in one order
layout.py      what is measured of shapes: views, columns and rows that meet, tables along an axis
doors.py       what is noted of functions that change state: clipping, schedules, seeds
rows.py        the rows that a model was trained on, and those that it is tested on
rewards.py     training by rewards: targets and advantages that have a graph, critics
augmented.py   a dataset asked several times for one example: pictures that are mirrored
text.py        what the text of a program tells by itself
eval_check.py  the first test after the watch, and a second training
session.py     some steps of a training under the watch, and what the diagnoses say of them
names.py       names of modules and parameters, and lines of the program
program.py     a PyTorch program, run until enough steps were seen
recorder.py    the first whole step of a program, kept
tape.py        one step, which can be made again
overfit.py     the first step, made again and again: can one batch be memorized?
report.py      what was found, as text and as a page
diagnoses/     one file for each, which judges and does not measure
"""

from badak.inspect.doctor.doctor import doctor as doctor
