"""Training: one loop on one screen, and what stands around it: evaluation, resume, metrics, curves, pictures.

from badak.training import fit

outcome = fit(model, loader, F.cross_entropy, val=tests, epochs=5, lr=1e-3, folder="runs/mine")

fit.py          the loop for models and batches of a program
config.py       the settings of the loop, their texts in --help, and the learning rate with its warm-up
presets.py      the settings of each task, and those that badak train begins with
train_state.py  model, optimizer and schedule
loop.py         the loop; run.py: its folder; best.py: which weights are kept
causal_lm.py, masked_lm.py, text_classification.py, image_classification.py, translation.py: one task each
"""

from badak.training.callbacks import Callback as Callback
from badak.training.callbacks import EarlyStopping as EarlyStopping
from badak.training.callbacks import ModelCheckpoint as ModelCheckpoint
from badak.training.callbacks import Progress as Progress
from badak.training.callbacks import ProgressBar as ProgressBar
from badak.training.config import TrainConfig as TrainConfig
from badak.training.fit import fit as fit
from badak.training.loop import Outcome as Outcome
from badak.training.metrics import Row as Row
