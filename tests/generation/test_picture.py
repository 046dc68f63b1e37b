"""Pictures from anywhere, brought to MNIST's form."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from badak.core.errors import ArgumentError, FileError
from badak.generation.picture import read_picture


def seven(size=(28, 28), ink=255, ground=0, mode="L", box=(8, 4, 20, 23)):
    """A picture with a 7."""
    picture = Image.new(mode, size, ground)
    scale = (size[0] / 28, size[1] / 28)
    x0, y0, x1, y1 = (round(v * scale[i % 2]) for i, v in enumerate(box))
    ImageDraw.Draw(picture).line([(x0, y0), (x1, y0), ((x0 + x1) // 2, y1)], fill=ink, width=max(2, size[0] // 12))
    return picture


def test_a_picture_of_mnists_form_is_taken_as_it_is(tmp_path):
    seven().save(tmp_path / "7.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "7.png"), np.asarray(seven(), np.float32) / 255)


@pytest.mark.parametrize("size", [(28, 28), (56, 56), (300, 200), (64, 160)])
@pytest.mark.parametrize(
    "mode, ink, ground",
    [("L", 0, 255), ("L", 250, 30), ("RGB", (20, 30, 160), (250, 240, 230)), ("RGBA", (0, 0, 0, 255), (0, 0, 0, 0))],
)
def test_any_size_and_colour_gives_bright_ink_in_the_middle(tmp_path, size, mode, ink, ground):
    seven(size, ink, ground, mode).save(tmp_path / "7.png")
    picture = read_picture(tmp_path / "7.png")
    if size == (28, 28) and mode == "L" and ink == 250:
        return  # has the form already
    rows, columns = np.nonzero(picture > 0.2)
    assert picture.shape == (28, 28) and picture.dtype == np.float32 and 0 <= picture.min() <= picture.max() <= 1
    assert max(np.ptp(rows), np.ptp(columns)) + 1 in (19, 20)
    mass = [(picture.sum(axis) * np.arange(28)).sum() / picture.sum() for axis in (0, 1)]
    assert abs(mass[0] - 13.5) <= 0.6 and abs(mass[1] - 13.5) <= 0.6
    assert picture[0].max() == 0 and picture.max() > 0.6


def test_a_thin_pen_on_a_large_sheet_gives_strokes_as_wide_as_mnists(tmp_path):
    picture = Image.new("L", (1000, 1000), 255)
    ImageDraw.Draw(picture).line([(300, 200), (700, 200), (500, 800)], fill=0, width=3)
    picture.save(tmp_path / "7.png")
    strokes = (read_picture(tmp_path / "7.png") > 0.5).sum(axis=1)
    assert np.median(strokes[strokes > 0]) in (2, 3)


def test_an_absent_picture_is_named(tmp_path):
    with pytest.raises(FileError, match=r"none.png: there is no such picture\nfix: "):
        read_picture(tmp_path / "none.png")


@pytest.mark.parametrize("content", [b"", b"not a picture", b"\x89PNG\r\n\x1a\n" + b"\0" * 20])
def test_a_file_that_is_no_picture_is_named(tmp_path, content):
    (tmp_path / "x.png").write_bytes(content)
    with pytest.raises(FileError, match=r"x.png: not a picture that can be read"):
        read_picture(tmp_path / "x.png")


def test_a_picture_cut_short_is_named(tmp_path):
    seven((300, 300)).save(tmp_path / "x.png")
    (tmp_path / "x.png").write_bytes((tmp_path / "x.png").read_bytes()[:400])
    with pytest.raises(FileError, match=r"x.png: not a picture that can be read"):
        read_picture(tmp_path / "x.png")


@pytest.mark.parametrize("shade", [0, 1, 128, 200, 255])
@pytest.mark.parametrize("size", [(28, 28), (40, 40), (1, 1), (28, 3)])
def test_an_empty_picture_is_refused(tmp_path, size, shade):
    Image.new("L", size, shade).save(tmp_path / "x.png")
    with pytest.raises(ArgumentError, match=r"x.png: the picture is of one colour"):
        read_picture(tmp_path / "x.png")
