"""The diagnoses, causes before effects: an earlier one keeps those quiet that follow from it (`explains`)."""

from badak.inspect.doctor.diagnoses.accumulation import AccumulationLost, AccumulationScaled
from badak.inspect.doctor.diagnoses.alike import AllAlike
from badak.inspect.doctor.diagnoses.averages import NoAverage
from badak.inspect.doctor.diagnoses.axis import WrongAxis
from badak.inspect.doctor.diagnoses.blind import BlindRows
from badak.inspect.doctor.diagnoses.broken import FirstNaN
from badak.inspect.doctor.diagnoses.clipping import ClippedAway, ClippedEarly
from badak.inspect.doctor.diagnoses.counted_padding import PaddingCounted
from badak.inspect.doctor.diagnoses.cut import GraphCut
from badak.inspect.doctor.diagnoses.data import NotNormalised, SameBatch, SameIds
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis
from badak.inspect.doctor.diagnoses.dropped import DroppedAway
from badak.inspect.doctor.diagnoses.formula import NotAsNamed
from badak.inspect.doctor.diagnoses.future import FutureSeen
from badak.inspect.doctor.diagnoses.gradients import Exploding, NeverLearns, Vanishing
from badak.inspect.doctor.diagnoses.growing import GraphGrows
from badak.inspect.doctor.diagnoses.handed_on import NotHandedOn
from badak.inspect.doctor.diagnoses.inside import DeadUnits, SaturatedAttention
from badak.inspect.doctor.diagnoses.labels import LabelsNotShifted, LabelsShiftedTwice, LabelsTurned
from badak.inspect.doctor.diagnoses.last_layer import BehindLogits
from badak.inspect.doctor.diagnoses.leak import LabelGiven
from badak.inspect.doctor.diagnoses.log_probabilities import LogProbabilities
from badak.inspect.doctor.diagnoses.masks import MaskAdded, MaskInverted
from badak.inspect.doctor.diagnoses.mixed import LabelsMixed
from badak.inspect.doctor.diagnoses.modes import EvalForgotten, TrainForgotten
from badak.inspect.doctor.diagnoses.moving import MovingTarget, WrongSteps
from badak.inspect.doctor.diagnoses.not_recorded import NotRecorded
from badak.inspect.doctor.diagnoses.not_stepped import StepBeforeBackward
from badak.inspect.doctor.diagnoses.odd_labels import OddLabels
from badak.inspect.doctor.diagnoses.odd_settings import OddSettings
from badak.inspect.doctor.diagnoses.one_class import OneClass, OneHotIntegers
from badak.inspect.doctor.diagnoses.optimizers import DecayTooHigh, MadeAnew, NeverStepped
from badak.inspect.doctor.diagnoses.other_data import OtherData
from badak.inspect.doctor.diagnoses.probabilities import ProbabilitiesForLogits
from badak.inspect.doctor.diagnoses.rate import RateTooHigh, RateTooLow
from badak.inspect.doctor.diagnoses.read import ReadWrongly
from badak.inspect.doctor.diagnoses.same_number import SameNumber
from badak.inspect.doctor.diagnoses.schedule import RateVanishes, ScheduleFirst
from badak.inspect.doctor.diagnoses.settings import NobodyReads
from badak.inspect.doctor.diagnoses.shapes import BatchFirst, BatchPositions, Stretched, ViewForTranspose
from badak.inspect.doctor.diagnoses.sign import Maximised
from badak.inspect.doctor.diagnoses.stacks import BatchOfOne, SameModule
from badak.inspect.doctor.diagnoses.stale import StaleOptimizer
from badak.inspect.doctor.diagnoses.start import BadStart
from badak.inspect.doctor.diagnoses.tests import DropoutInTests, TestedOnTrain
from badak.inspect.doctor.diagnoses.unregistered import LayersNotRegistered
from badak.inspect.doctor.diagnoses.zero_grad import MissingZeroGrad

DIAGNOSES: tuple[type[Diagnosis], ...] = (
    NotRecorded, StepBeforeBackward, GraphGrows, MissingZeroGrad, AccumulationLost, AccumulationScaled,
    Maximised, OneHotIntegers, NeverStepped, MadeAnew, ClippedEarly, ClippedAway, RateVanishes, ScheduleFirst, DecayTooHigh,
    NotNormalised,
    ProbabilitiesForLogits, BehindLogits, WrongAxis, LogProbabilities, Stretched, ViewForTranspose, BatchPositions, BatchFirst,
    LabelsMixed, LabelsNotShifted, LabelsTurned, LabelsShiftedTwice, PaddingCounted,
    LayersNotRegistered, GraphCut, StaleOptimizer, MaskInverted, MaskAdded, FutureSeen, SameModule, BatchOfOne, OneClass,
    SameIds, TestedOnTrain, OtherData, LabelGiven, OddLabels, ReadWrongly, NoAverage, NobodyReads, DropoutInTests, DroppedAway,
    EvalForgotten, TrainForgotten, SameBatch, NotHandedOn, MovingTarget, WrongSteps, NotAsNamed, OddSettings, SameNumber,
    BlindRows, Exploding, RateTooHigh, RateTooLow, BadStart, FirstNaN, DeadUnits, AllAlike, SaturatedAttention, Vanishing,
    NeverLearns,
)  # fmt: skip
