"""Rows for test_modules.py: windows over three axes, paddings, bags, and the rarer losses."""

import numpy as np

from tests.samples import ints, uniform

X, CUBE = (4, 6), (2, 3, 4, 5, 4)
SIGNS = uniform(1.0, 1.0, 4, 6)
PLACES = np.array([[0, 3, -1, 1, 2, 4], [5, -1, 0, 0, 0, 0], [1, 2, 3, 4, 5, 0], [-1, 1, 2, 3, 4, 5]])  # true classes, then -1
MORE = [
    ("ConvTranspose3d", (3, 4, 2), {"stride": 2, "padding": 1}, [CUBE]),
    ("MaxPool3d", (2,), {"padding": 1}, [CUBE]),
    ("AvgPool3d", ((2, 3, 1),), {"stride": 1, "count_include_pad": False, "padding": (1, 1, 0)}, [CUBE]),
    ("AdaptiveAvgPool3d", ((2, None, 3),), {}, [CUBE]),
    ("AdaptiveMaxPool3d", (2,), {}, [CUBE]),
    ("LPPool1d", (2, 3), {}, [(2, 4, 10)]),
    ("LPPool2d", (2, (2, 3)), {"stride": 1}, [(2, 4, 6, 5)]),
    ("LPPool3d", (2, 2), {}, [CUBE]),
    ("MaxUnpool1d", (2,), {}, [(1, 1, 2), ints(1, 1, 1, 2)]),
    ("MaxUnpool2d", (2,), {}, [(1, 1, 1, 1), ints(4, 1, 1, 1, 1)]),
    ("MaxUnpool3d", (2,), {}, [(1, 1, 1, 1, 1), ints(8, 1, 1, 1, 1, 1)]),
    ("InstanceNorm3d", (3,), {"affine": True}, [CUBE]),
    ("SyncBatchNorm", (6,), {}, [X]),
    *[(f"{kind}Pad{n}d", (1,), {}, [(2, 3, *[4, 5, 4][:n])])
      for kind in ("Zero", "Reflection", "Replication", "Circular") for n in (1, 2, 3)],
    *[(f"ConstantPad{n}d", (1, 2.5), {}, [(2, 3, *[4, 5, 4][:n])]) for n in (1, 2, 3)],
    ("EmbeddingBag", (10, 6), {"mode": "sum"}, [ints(10, 3, 4)]),
    ("GaussianNLLLoss", (), {"full": True}, [X, X, uniform(0.2, 2.0, 4, 6)]),
    ("PoissonNLLLoss", (), {"full": True}, [X, uniform(2.0, 9.0, 4, 6)]),
    ("HingeEmbeddingLoss", (), {}, [X, SIGNS]),
    ("MarginRankingLoss", (), {"margin": 0.5}, [X, X, SIGNS]),
    ("SoftMarginLoss", (), {}, [X, ints(2, 4, 6)]),
    ("MultiLabelSoftMarginLoss", (), {}, [X, uniform(0.0, 1.0, 4, 6)]),
    ("MultiMarginLoss", (), {"p": 2}, [X, ints(6, 4)]),
    ("TripletMarginLoss", (), {"swap": True}, [X, X, X]),
    ("PairwiseDistance", (), {"keepdim": True}, [X, X]),
    ("FractionalMaxPool2d", (2,), {"output_size": (3, 2)}, [(2, 3, 6, 5)]),
    ("FractionalMaxPool2d", ((2, 3),), {"output_ratio": (0.5, 0.6), "return_indices": True}, [(3, 7, 6)]),
    ("FractionalMaxPool3d", (2,), {"output_size": (2, 3, 2)}, [CUBE]),
    ("FractionalMaxPool3d", (2,), {"output_ratio": (0.5, 0.6, 0.7), "return_indices": True}, [(3, 5, 6, 5)]),
    ("ChannelShuffle", (2,), {}, [(2, 4, 5, 3)]),
    ("ChannelShuffle", (3,), {}, [(2, 6, 4)]),
    ("LocalResponseNorm", (3,), {"alpha": 0.1, "beta": 0.5, "k": 2.0}, [(2, 5, 3)]),
    ("LocalResponseNorm", (2,), {}, [(2, 5, 3, 4)]),
    ("FeatureAlphaDropout", (), {"p": 0.3}, [(3, 4, 5)]),
    ("RReLU", (0.1, 0.4), {}, [X]),
    ("UpsamplingNearest2d", (), {"scale_factor": 2}, [(1, 2, 3, 4)]),
    ("UpsamplingBilinear2d", (), {"size": (5, 7)}, [(1, 2, 3, 4)]),
    ("MultiLabelMarginLoss", (), {}, [X, PLACES]),
    ("MultiLabelMarginLoss", (), {"reduction": "none"}, [X, PLACES]),
    ("NLLLoss2d", (), {"reduction": "sum", "ignore_index": 1}, [(4, 6, 3, 2), ints(6, 4, 3, 2)]),
    ("TripletMarginWithDistanceLoss", (), {"margin": 0.5, "swap": True}, [X, X, X]),
    ("LinearCrossEntropyLoss", (6, 3), {"bias": True, "label_smoothing": 0.1}, [(4, 6), ints(3, 4)]),
    ("LinearCrossEntropyLoss", (6, 3), {"out_features": (2,), "reduction": "none"}, [(4, 6), ints(3, 4, 2)]),
]  # fmt: skip
