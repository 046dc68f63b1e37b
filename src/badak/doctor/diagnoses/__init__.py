"""The diagnoses, causes before effects: an earlier one keeps those quiet that follow from it (`explains`)."""

from badak.doctor.diagnoses.accumulation import AccumulationLost, AccumulationScaled
from badak.doctor.diagnoses.axis import WrongAxis
from badak.doctor.diagnoses.blind import BlindRows
from badak.doctor.diagnoses.broken import FirstNaN
from badak.doctor.diagnoses.clipping import ClippedAway, ClippedEarly
from badak.doctor.diagnoses.counted_padding import PaddingCounted
from badak.doctor.diagnoses.cut import GraphCut
from badak.doctor.diagnoses.data import NotNormalised, SameBatch, SameIds
from badak.doctor.diagnoses.diagnosis import Diagnosis
from badak.doctor.diagnoses.future import FutureSeen
from badak.doctor.diagnoses.gradients import Exploding, NeverLearns, Vanishing
from badak.doctor.diagnoses.growing import GraphGrows
from badak.doctor.diagnoses.inside import DeadUnits, SaturatedAttention
from badak.doctor.diagnoses.labels import LabelsNotShifted, LabelsShiftedTwice
from badak.doctor.diagnoses.last_layer import BehindLogits
from badak.doctor.diagnoses.log_probabilities import LogProbabilities
from badak.doctor.diagnoses.masks import MaskAdded, MaskInverted
from badak.doctor.diagnoses.modes import EvalForgotten, TrainForgotten
from badak.doctor.diagnoses.not_recorded import NotRecorded
from badak.doctor.diagnoses.not_stepped import StepBeforeBackward
from badak.doctor.diagnoses.one_class import OneClass, OneHotIntegers
from badak.doctor.diagnoses.optimizers import DecayTooHigh, MadeAnew, NeverStepped
from badak.doctor.diagnoses.probabilities import ProbabilitiesForLogits
from badak.doctor.diagnoses.rate import RateTooHigh, RateTooLow
from badak.doctor.diagnoses.schedule import RateVanishes, ScheduleFirst
from badak.doctor.diagnoses.shapes import BatchFirst, BatchPositions, Stretched, ViewForTranspose
from badak.doctor.diagnoses.stacks import BatchOfOne, SameModule
from badak.doctor.diagnoses.stale import StaleOptimizer
from badak.doctor.diagnoses.start import BadStart
from badak.doctor.diagnoses.tests import DropoutInTests, TestedOnTrain
from badak.doctor.diagnoses.unregistered import LayersNotRegistered
from badak.doctor.diagnoses.zero_grad import MissingZeroGrad

DIAGNOSES: tuple[type[Diagnosis], ...] = (
    NotRecorded, StepBeforeBackward, GraphGrows, MissingZeroGrad, AccumulationLost, AccumulationScaled,
    OneHotIntegers, NeverStepped, MadeAnew, ClippedEarly, ClippedAway, RateVanishes, ScheduleFirst, DecayTooHigh,
    ProbabilitiesForLogits, BehindLogits, WrongAxis, LogProbabilities, Stretched, ViewForTranspose, BatchPositions, BatchFirst,
    LabelsNotShifted, LabelsShiftedTwice, PaddingCounted,
    LayersNotRegistered, GraphCut, StaleOptimizer, MaskInverted, MaskAdded, FutureSeen, SameModule, BatchOfOne, OneClass,
    TestedOnTrain, DropoutInTests,
    EvalForgotten, TrainForgotten, SameIds, SameBatch, NotNormalised,
    BlindRows, Exploding, RateTooHigh, RateTooLow, BadStart, FirstNaN, DeadUnits, SaturatedAttention, Vanishing, NeverLearns,
)  # fmt: skip
