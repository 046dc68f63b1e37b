"""Whole models, one readable file each: a frozen config and the modules that it sizes."""

from badak.core.public_api import guard_classes as _guard_classes
from badak.core.public_api import guard_names as _guard_names
from badak.core.public_api import guard_types as _guard_types
from badak.models import marian as marian
from badak.models import published as published
from badak.models.bert import BERT as BERT
from badak.models.bert import BERTClassifier as BERTClassifier
from badak.models.bert import BERTConfig as BERTConfig
from badak.models.bert import BERTEncoder as BERTEncoder
from badak.models.bert import SentenceConfig as SentenceConfig
from badak.models.bert import SentenceEncoder as SentenceEncoder
from badak.models.bert import TextConfig as TextConfig
from badak.models.classifier import Classifier as Classifier
from badak.models.classifier import ClassifierConfig as ClassifierConfig
from badak.models.classifier import ClsClassifier as ClsClassifier
from badak.models.classifier import build_classifier as build_classifier
from badak.models.gpt import GPT as GPT
from badak.models.gpt import GPTConfig as GPTConfig
from badak.models.llama import Llama as Llama
from badak.models.llama import LlamaConfig as LlamaConfig
from badak.models.llama import RotaryScaling as RotaryScaling
from badak.models.pretrained import from_pretrained as from_pretrained
from badak.models.seq2seq import Seq2Seq as Seq2Seq
from badak.models.seq2seq import Seq2SeqConfig as Seq2SeqConfig
from badak.nn import Module as _Module

_guard_classes(globals(), _Module, __name__)
_guard_types(globals(), __name__)
_guard_names(globals(), __name__)
