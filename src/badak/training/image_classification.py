"""Task 1: which digit is it? MNIST, each row of pixels a token."""

from collections.abc import Callable

import numpy as np

from badak.data import DataLoader, TensorDataset
from badak.data.mnist import load_mnist
from badak.models.classifier import build_classifier
from badak.tensor import Tensor, from_numpy, randint
from badak.tensor.random import Generator
from badak.training.experiment import Experiment
from badak.training.presets import ClassifySetup
from badak.training.score import Score

TEST_BATCH = 500


class Pictures(Experiment):
    """Learn from the first `train_images`, test with the first `test_images`."""

    setup: ClassifySetup

    def __init__(self, setup: ClassifySetup, log: Callable[[str], None], tokenizer: None = None) -> None:
        self.setup, data = setup, setup.data
        train, test = load_mnist(data.path or None, "train", log), load_mnist(data.path or None, "test", log)
        learned = TensorDataset(*(part[: data.train_images] for part in train))
        tested = TensorDataset(*(part[: data.test_images] for part in test))
        self.model = build_classifier(setup.model)
        order = Generator().manual_seed(setup.train.seed)
        self.loader = DataLoader(learned, setup.train.batch_size, shuffle=True, generator=order)
        self.validation: DataLoader = DataLoader(tested, TEST_BATCH)
        self.parts = [part.numpy() for part in (*learned.tensors, *tested.tensors)]

    def data(self) -> list[memoryview]:
        return [np.ascontiguousarray(part).data for part in self.parts]

    def prepare(self, batch: tuple[Tensor, Tensor]) -> tuple[tuple[Tensor], Tensor]:
        pictures, labels = batch
        if self.model.training and self.setup.data.shift:
            pictures = shifted(pictures, self.setup.data.shift)
        return (pictures,), labels

    def seen(self, inputs: tuple[Tensor, ...]) -> int:
        return len(inputs[0])

    def example(self) -> list[str]:
        return ["PICTURE.png"]

    def evaluate(self) -> Score:
        return self.classified(self.validation, [str(digit) for digit in range(self.setup.model.classes)])


def shifted(pictures: Tensor, largest: int) -> Tensor:
    """Each picture (B, 28, 28) moved by an offset of its own, up to `largest` pixels down and sideways; black comes in."""
    B, rows, width = pictures.shape
    down, right = randint(0, 2 * largest + 1, (2, B, 1)).numpy()
    padded = np.pad(pictures.numpy(), ((0, 0), (largest, largest), (largest, largest)))
    from_row, from_column = np.arange(rows) + down, np.arange(width) + right  # (B, 28) each
    return from_numpy(padded[np.arange(B)[:, None, None], from_row[:, :, None], from_column[:, None, :]])
