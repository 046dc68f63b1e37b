"""`SummaryWriter` over the package tensorboard, which writes event files and knows nothing of tensors.

Scalars, text, histograms, images, figures and hyperparameters are written; for the rest tensorboardX is asked for.
"""

import importlib
import io
import itertools
import operator
import socket
import time
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, expect_kind, tr
from badak.tensor import Tensor

try:
    from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2  # type: ignore[import-not-found]
    from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2  # type: ignore[import-not-found]
    from tensorboard.plugins.text import plugin_data_pb2 as text_pb2  # type: ignore[import-not-found]
    from tensorboard.summary.writer.event_file_writer import EventFileWriter  # type: ignore[import-not-found]
except ImportError as error:
    raise ModuleNotFoundError("No module named 'tensorboard'", name=__name__) from error

_BINS = list(itertools.accumulate([1e-12] + [1.1] * 773, operator.mul))  # up to 1e20
_BINS = [*(-x for x in reversed(_BINS)), 0, *_BINS]
_AXES = {"CHW": (1, 2, 0), "HWC": (0, 1, 2), "HW": (0, 1), "NCHW": (0, 2, 3, 1), "NHWC": (0, 1, 2, 3)}


def _array(x: Any) -> np.ndarray:
    """A tensor, an array, a list or a number as an array."""
    if isinstance(x, str):
        raise ArgumentTypeError(tr("add_...(): expected a number or a tensor; got {!r}", x), "add_text for words")
    return np.asarray(x.detach().cpu().numpy() if isinstance(x, Tensor) else x)


def _number(x: Any) -> float:
    found = _array(x)
    if found.size != 1:
        raise ArgumentError(tr("add_scalar(): scalar should be 0D; got shape {}", found.shape), "x.mean(), or add_histogram")
    return float(found.reshape(()))


class FileWriter:
    """Writes events into a file of one folder."""

    def __init__(self, log_dir: str, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        self._folder = str(log_dir)
        self.event_writer = EventFileWriter(self._folder, max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return self._folder

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Write an event."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Write a summary as an event."""
        self.add_event(event_pb2.Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Write what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self.event_writer.close()


class SummaryWriter:
    """Writes what TensorBoard shows into event files below `log_dir`: runs/TIME_HOST without one."""

    def __init__(
        self, log_dir: Any = None, comment: str = "", purge_step: int | None = None, max_queue: int = 10, flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:  # fmt: skip
        now = datetime.now().strftime("%b%d_%H-%M-%S")
        self.log_dir = log_dir or str(Path("runs", f"{now}_{socket.gethostname()}{comment}"))
        self.purge_step, self.max_queue = purge_step, max_queue
        self.flush_secs, self.filename_suffix = flush_secs, filename_suffix
        self.default_bins = _BINS
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()

    @property
    def file_writer(self) -> FileWriter | None:
        """The writer of `log_dir`."""
        return None if self.all_writers is None else self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The same, opened again after close()."""
        if self.all_writers is None:
            writer = FileWriter(self.log_dir, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers = {writer.get_logdir(): writer}
            if self.purge_step is not None:
                writer.add_event(event_pb2.Event(step=self.purge_step, file_version="brain.Event:2"))
                begun = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
                writer.add_event(event_pb2.Event(step=self.purge_step, session_log=begun))
                self.purge_step = None
        return self.all_writers[str(self.log_dir)]

    def get_logdir(self) -> Any:
        """Where the files lie."""
        return self.log_dir

    def _add(self, tag: str, step: int | None, walltime: float | None, **value: Any) -> None:
        made = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=tag, **value)])
        self._get_file_writer().add_summary(made, step, walltime)

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None, walltime: float | None = None,
        new_style: bool = False, double_precision: bool = False,
    ) -> None:  # fmt: skip
        """A number at a step."""
        if new_style:
            kind = "double" if double_precision else "float"
            held = tensor_pb2.TensorProto(dtype=f"DT_{kind.upper()}", **{f"{kind}_val": [_number(scalar_value)]})
            said = summary_pb2.SummaryMetadata(plugin_data={"plugin_name": "scalars"})
            self._add(tag, global_step, walltime, tensor=held, metadata=said)
        else:
            self._add(tag, global_step, walltime, simple_value=_number(scalar_value))

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Several numbers for one picture: each has a folder of its own."""
        base = Path(self._get_file_writer().get_logdir())
        for tag, value in tag_scalar_dict.items():
            folder = f"{base}/{main_tag.replace('/', '_')}_{tag}"
            assert self.all_writers is not None
            if folder not in self.all_writers:
                self.all_writers[folder] = FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)
            one = summary_pb2.Summary.Value(tag=main_tag, simple_value=_number(value))
            self.all_writers[folder].add_summary(summary_pb2.Summary(value=[one]), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None) -> None:
        """Words, read as Markdown."""
        content = text_pb2.TextPluginData(version=0).SerializeToString()
        said = summary_pb2.SummaryMetadata(plugin_data={"plugin_name": "text", "content": content})
        shape = tensor_shape_pb2.TensorShapeProto(dim=[{"size": 1}])
        held = tensor_pb2.TensorProto(dtype="DT_STRING", string_val=[text_string.encode("utf_8")], tensor_shape=shape)
        self._add(f"{tag}/text_summary", global_step, walltime, tensor=held, metadata=said)

    def add_histogram(
        self, tag: str, values: Any, global_step: int | None = None, bins: Any = "tensorflow", walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:  # fmt: skip
        """How often values lie in which bin; bins: "tensorflow", or what np.histogram takes."""
        found = _array(values).astype(float).reshape(-1)
        if not found.size:
            raise ArgumentError("add_histogram(): The input has no element.", "leave empty tensors out")
        counts, ends = np.histogram(found, bins=_BINS if isinstance(bins, str) and bins == "tensorflow" else bins)
        if max_bins is not None and len(counts) > max_bins:
            every = len(counts) // max_bins
            counts = np.pad(counts, (0, -len(counts) % every)).reshape(-1, every).sum(-1)
            ends = np.append(ends[:-1:every], ends[-1])
        used = np.flatnonzero(counts)
        first, last = (used[0], used[-1] + 1) if len(used) else (0, 1)
        counts = counts[first - 1 : last] if first else np.append(0, counts[:last])  # an empty bin holds the left end
        self._add(tag, global_step, walltime, histo=summary_pb2.HistogramProto(
            min=found.min(), max=found.max(), num=found.size, sum=found.sum(), sum_squares=found.dot(found),
            bucket_limit=ends[first : last + 1].tolist(), bucket=counts.tolist(),
        ))  # fmt: skip

    def add_image(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None, dataformats: str = "CHW"
    ) -> None:
        """A picture: bytes, or floats in [0, 1]. Needs Pillow."""
        self._add(tag, global_step, walltime, image=_picture(img_tensor, dataformats))

    def add_images(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None, dataformats: str = "NCHW"
    ) -> None:
        """Several pictures as one."""
        self._add(tag, global_step, walltime, image=_picture(img_tensor, dataformats))

    def add_figure(
        self, tag: str, figure: Any, global_step: int | None = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """A figure of Matplotlib's, or a list of them."""
        agg, pyplot = (importlib.import_module(f"matplotlib.{name}") for name in ("backends.backend_agg", "pyplot"))
        drawn = []
        for each in figure if isinstance(figure, list) else [figure]:
            canvas = agg.FigureCanvasAgg(each)
            canvas.draw()
            drawn.append(np.asarray(canvas.buffer_rgba())[..., :3])
            if close:
                pyplot.close(each)
        several = isinstance(figure, list)
        self.add_image(tag, np.stack(drawn) if several else drawn[0], global_step, walltime, "NHWC" if several else "HWC")

    def add_hparams(
        self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any], hparam_domain_discrete: dict[str, list] | None = None,
        run_name: str | None = None, global_step: int | None = None,
    ) -> None:  # fmt: skip
        """Hyperparameters and the results with them, in a run of their own below `log_dir`."""
        for name, given in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
            expect_kind(given, dict, "add_hparams(): {} should be a dict; got {}", "{'lr': 0.1}", name)
        folder = str(Path(self._get_file_writer().get_logdir(), run_name or str(time.time())))
        with SummaryWriter(folder) as below:
            for made in hparams(hparam_dict, metric_dict, hparam_domain_discrete):
                below._get_file_writer().add_summary(made, global_step)
            for tag, value in metric_dict.items():
                below.add_scalar(tag, value, global_step)

    def flush(self) -> None:
        """Write what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write what waits, and close the files; what is added later opens new ones."""
        for writer in (self.all_writers or {}).values():
            writer.close()
        self.all_writers = None

    def __enter__(self) -> "SummaryWriter":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_"):
            raise NotSupportedError(tr("SummaryWriter.{}: badak does not write it", name), "pip install tensorboardX")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def _picture(given: Any, axes: str) -> Any:
    """Pixels as a PNG; several side by side, eight in a row."""
    pixels = _array(given)
    if axes.upper() not in _AXES or pixels.ndim != len(axes):
        cause = tr("add_image(): shape {} does not fit dataformats={!r}", pixels.shape, axes)
        raise ArgumentError(cause, "dataformats='CHW', 'HWC', 'HW' or 'NCHW'")
    scale = 1 if pixels.dtype == np.uint8 else 255
    pixels = pixels.transpose(_AXES[axes.upper()]).astype(np.float32)
    if pixels.ndim == 4:
        pixels = _grid(pixels)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    pixels = np.repeat(pixels, 3, -1) if pixels.shape[-1] == 1 else pixels
    pixels = np.clip(pixels * scale, 0, 255).astype(np.uint8)
    file = io.BytesIO()
    importlib.import_module("PIL.Image").fromarray(pixels).save(file, format="PNG")
    height, width, channels = pixels.shape
    return summary_pb2.Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue())


def _grid(pixels: np.ndarray, columns: int = 8) -> np.ndarray:
    count, height, width, channels = pixels.shape
    columns = min(count, columns)
    rows = -(-count // columns)
    made = np.zeros((rows, height, columns, width, channels), pixels.dtype)
    for i, each in enumerate(pixels):
        made[i // columns, :, i % columns] = each
    return made.reshape(rows * height, columns * width, channels)


def hparams(
    hparam_dict: dict[str, Any], metric_dict: dict[str, Any], hparam_domain_discrete: dict[str, list] | None = None
) -> list:
    """The three summaries of a run: what is tried, that it begins, that it ends."""
    begun, told, domains = plugin_data_pb2.SessionStartInfo(), [], hparam_domain_discrete or {}
    for name, value in hparam_dict.items():
        if value is None:
            continue
        words = isinstance(value, str)
        if words:
            begun.hparams[name].string_value = value
        else:
            begun.hparams[name].number_value = _number(value)
        told.append(api_pb2.HParamInfo(name=name, type=f"DATA_TYPE_{'STRING' if words else 'FLOAT64'}"))
        if name in domains:
            told[-1].domain_discrete.extend(domains[name])
    named = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=tag)) for tag in metric_dict]
    whole = api_pb2.Experiment(hparam_infos=told, metric_infos=named)
    ended = plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))
    parts = {"experiment": {"experiment": whole}, "session_start_info": {"session_start_info": begun},
             "session_end_info": {"session_end_info": ended}}  # fmt: skip
    made = []
    for tag, part in parts.items():
        content = plugin_data_pb2.HParamsPluginData(**part, version=0).SerializeToString()
        said = summary_pb2.SummaryMetadata(plugin_data={"plugin_name": "hparams", "content": content})
        value = summary_pb2.Summary.Value(tag=f"_hparams_/{tag}", metadata=said)
        made.append(summary_pb2.Summary(value=[value]))
    return made
