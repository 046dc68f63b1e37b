"""A picture from a file, made to look like the digits that the classifier learned, and its ranking of the classes.

MNIST's digits are white on black, 20 pixels in their longer side, with their centre of mass in the middle of 28 x 28
pixels (LeCun et al. 1998). A photo or a drawing of any size and colour is brought to that form first.
"""

import io
import math
import warnings
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter, UnidentifiedImageError

from badak.core.errors import ArgumentError, FileError, tr
from badak.core.public_api import guard_names as _guard_names
from badak.generation.reader import answering
from badak.io.atomic import as_path, open_file
from badak.io.errors import reason
from badak.nn import Module
from badak.tensor import from_numpy

SIDE, INK_SIDE = 28, 20
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP")  # whose decoders are in Pillow: others start programs, or are little tried
MOST_BYTES = 200_000_000
MOST_PIXELS = 50_000_000  # a file of a few KB can hold any number; these take 600 MB for a moment
ENOUGH_PIXELS = 4_000_000  # a larger picture is made smaller before it is looked at


def read_picture(path: str | Path) -> np.ndarray:
    """The picture as (28, 28) float32 in [0, 1], the ink bright on black, as MNIST has it."""
    grey = read_grey(as_path(path))
    if np.ptp(grey) < 0.05:
        raise of_one_colour(path)
    if grey.shape == (SIDE, SIDE) and is_dark_around(grey):
        return grey  # it has the form already
    ink = grey if is_dark_around(grey) else 1 - grey
    ink = np.clip((ink - background(ink)) / max(ink.max() - background(ink), 1e-6), 0, 1)
    rows, columns = np.nonzero(ink > 0.2)
    if rows.size == 0:
        raise of_one_colour(path)
    return centre(ink[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1])


def of_one_colour(path: str | Path) -> ArgumentError:
    """The complaint about a picture that shows nothing."""
    cause = tr("{}: the picture is of one colour, there is nothing to read", path)
    return ArgumentError(cause, "draw a digit darker or brighter than its ground")


def read_grey(path: Path) -> np.ndarray:
    """Brightness (height, width) in [0, 1]; what is transparent counts as white. Large ones come smaller."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's about sizes: the limit here is lower
            with Image.open(_bytes(path), formats=FORMATS) as file:
                _check_size(file, path)
                if file.mode.startswith("I"):  # 16 bits, which a conversion would cut off at 255
                    return np.asarray(file, np.float32) / 65535
                picture = file.convert("RGBA")
    except FileNotFoundError:
        raise FileError(tr("{}: there is no such picture", path), fix="check the path") from None
    except FileError:
        raise
    except Exception as error:  # Pillow's decoders raise whatever they stumble over
        cause = tr("{}: not a picture that can be read ({})", path, _reason(error))
        raise FileError(cause, fix="give a PNG, JPEG, GIF, BMP or WebP file") from None
    if picture.width * picture.height > ENOUGH_PIXELS:
        picture = picture.reduce(math.ceil(math.sqrt(picture.width * picture.height / ENOUGH_PIXELS)))
    ground = Image.new("RGBA", picture.size, "white")
    return np.asarray(Image.alpha_composite(ground, picture).convert("L"), dtype=np.float32) / 255


def _bytes(path: Path) -> io.BytesIO:
    """The file in memory: its end is known there, whatever lengths stand in it."""
    with open_file(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise FileError(tr("{}: the picture has more than {:,} bytes", path, MOST_BYTES), fix="make it smaller")
    return io.BytesIO(data)


def _check_size(file: Image.Image, path: Path) -> None:
    if file.width * file.height > MOST_PIXELS:
        cause = tr("{}: the picture has {:,} x {:,} pixels; the limit is {:,}", path, file.width, file.height, MOST_PIXELS)
        raise FileError(cause, fix="make it smaller: 28 x 28 pixels are what the classifier sees")


def _reason(error: Exception) -> str:
    return tr("of none of the kinds below") if isinstance(error, UnidentifiedImageError) else reason(error)


def background(grey: np.ndarray) -> float:
    """The brightness of the ground: the median of the border."""
    return float(np.median(np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])))


def is_dark_around(grey: np.ndarray) -> bool:
    """Whether the ground is darker than the middle of the range that the picture uses."""
    return background(grey) <= (float(grey.min()) + float(grey.max())) / 2


def centre(ink: np.ndarray) -> np.ndarray:
    """The cropped ink, 20 pixels in its longer side, its centre of mass in the middle of 28 x 28."""
    small = resize(thicken(resize(ink, 4 * INK_SIDE)), INK_SIDE)
    weight = small.sum() + 1e-6
    height, width = small.shape
    down = round((SIDE - 1) / 2 - float((small.sum(1) * np.arange(height)).sum() / weight))
    right = round((SIDE - 1) / 2 - float((small.sum(0) * np.arange(width)).sum() / weight))
    down, right = min(max(down, 0), SIDE - height), min(max(right, 0), SIDE - width)
    out = np.zeros((SIDE, SIDE), dtype=np.float32)
    out[down : down + height, right : right + width] = small
    return out


def resize(ink: np.ndarray, longest: int) -> np.ndarray:
    """`ink` with `longest` pixels in its longer side, the brightest of them 1."""
    scale = longest / max(ink.shape)
    height, width = (max(1, round(side * scale)) for side in ink.shape)
    picture = Image.fromarray((ink * 255).astype(np.uint8)).resize((width, height), Image.Resampling.LANCZOS)
    out = np.asarray(picture, dtype=np.float32)
    return out / max(float(out.max()), 1.0)


def thicken(ink: np.ndarray) -> np.ndarray:
    """Strokes of a thin pen made as wide as those of MNIST, about a tenth of the digit: else they fade when shrunk."""
    inside = np.pad(ink > 0.3, 1)
    core = inside[1:-1, 1:-1] & inside[:-2, 1:-1] & inside[2:, 1:-1] & inside[1:-1, :-2] & inside[1:-1, 2:]
    width = 2 * inside.sum() / max(inside.sum() - core.sum(), 1)  # area by half of the edge
    missing = round((max(ink.shape) / 10 - float(width)) / 2)
    if missing <= 0:
        return ink
    wide = Image.fromarray((ink * 255).astype(np.uint8)).filter(ImageFilter.MaxFilter(2 * missing + 1))
    return np.asarray(wide, dtype=np.float32) / 255


def rank_classes(model: Module, picture: np.ndarray) -> list[tuple[int, float]]:
    """(class, probability) of one picture (28, 28), the most likely first."""
    with answering(model):
        chances = model(from_numpy(picture)[None])[0].softmax(dim=-1)
    values, indices = chances.sort(descending=True)
    return list(zip(indices.tolist(), values.tolist()))


_guard_names(globals(), __name__)
