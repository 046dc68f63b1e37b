"""The diagnoses, causes before effects: an earlier one keeps those quiet that follow from it (`explains`)."""

from badak.doctor.diagnoses.diagnosis import Diagnosis
from badak.doctor.diagnoses.log_probabilities import LogProbabilities
from badak.doctor.diagnoses.not_stepped import StepBeforeBackward
from badak.doctor.diagnoses.probabilities import ProbabilitiesForLogits
from badak.doctor.diagnoses.start import BadStart
from badak.doctor.diagnoses.zero_grad import MissingZeroGrad

DIAGNOSES: tuple[type[Diagnosis], ...] = (
    StepBeforeBackward,
    MissingZeroGrad,
    ProbabilitiesForLogits,
    LogProbabilities,
    BadStart,
)
