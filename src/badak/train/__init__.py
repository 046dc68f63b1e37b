"""Training: one loop on one screen, and what stands around it: evaluation, resume, metrics, curves, pictures.

from badak.train import fit

outcome = fit(model, loader, F.cross_entropy, valid=tests, epochs=5, lr=1e-3, folder="runs/mine")
"""

from badak.train.callbacks import Callback as Callback
from badak.train.callbacks import EarlyEnd as EarlyEnd
from badak.train.callbacks import Progress as Progress
from badak.train.callbacks import SaveBest as SaveBest
from badak.train.config import TrainConfig as TrainConfig
from badak.train.fit import fit as fit
from badak.train.loop import Outcome as Outcome
from badak.train.metrics import Row as Row
