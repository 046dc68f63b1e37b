"""Whole models, one readable file each: a frozen config and the modules that it sizes."""

from badak.models.bert import BERT as BERT
from badak.models.bert import BERTConfig as BERTConfig
from badak.models.classifier import Classifier as Classifier
from badak.models.classifier import ClassifierConfig as ClassifierConfig
from badak.models.classifier import ClsClassifier as ClsClassifier
from badak.models.classifier import build_classifier as build_classifier
from badak.models.gpt import GPT as GPT
from badak.models.gpt import GPTConfig as GPTConfig
