"""PyTorch's place for these names; they stand in badak.nn.recurrent."""

from badak.nn.recurrent import GRU as GRU
from badak.nn.recurrent import LSTM as LSTM
from badak.nn.recurrent import RNN as RNN
from badak.nn.recurrent import GRUCell as GRUCell
from badak.nn.recurrent import LSTMCell as LSTMCell
from badak.nn.recurrent import RNNBase as RNNBase
from badak.nn.recurrent import RNNCell as RNNCell
from badak.nn.recurrent import RNNCellBase as RNNCellBase
