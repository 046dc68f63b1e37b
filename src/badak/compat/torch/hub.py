"""`torch.hub`: files from the internet, kept in a cache. Programs from there are not run."""

import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn
from urllib.error import HTTPError as HTTPError
from urllib.error import URLError
from urllib.parse import urlparse as urlparse
from urllib.request import Request, urlopen

from badak.core.errors import FileError, NotSupportedError, tr
from badak.io import load as _load

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # weights-0a1b2c3d.pth: the first digits of the file's SHA-256
ENV_TORCH_HOME, ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR = "TORCH_HOME", "XDG_CACHE_HOME", "~/.cache"
READ_DATA_CHUNK = 128 * 1024
_chosen: dict[str, str] = {}


def _get_torch_home() -> str:
    cache = os.path.join(os.getenv(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR), "torch")
    return os.path.expanduser(os.getenv(ENV_TORCH_HOME, cache))


def get_dir() -> str:
    """Where files are kept: what set_dir chose, or "hub" in $TORCH_HOME."""
    return _chosen.get("dir") or os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike) -> None:
    """Keep files there from now on."""
    _chosen["dir"] = os.path.expanduser(d)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Fetch a file, under another name until it is whole. hash_prefix: how its SHA-256 must begin.

    Raises FileError where it cannot be fetched or is another file.
    """
    place = Path(dst).expanduser()
    digest = hashlib.sha256()
    part = tempfile.NamedTemporaryFile(dir=place.parent, prefix=place.name, suffix=".partial", delete=False)
    try:
        with part, urlopen(Request(url, headers={"User-Agent": "badak.hub"})) as answer:
            while chunk := answer.read(READ_DATA_CHUNK):
                part.write(chunk)
                digest.update(chunk)
        if hash_prefix and not digest.hexdigest().startswith(hash_prefix):
            cause = tr('invalid hash value (expected "{}", got "{}")', hash_prefix, digest.hexdigest())
            raise FileError(cause, "fetch the file again")
        os.replace(part.name, place)
    except HTTPError:
        raise
    except (URLError, ValueError) as error:
        raise FileError(f"{url}: {getattr(error, 'reason', error)}", "check the address and the connection") from error
    finally:
        Path(part.name).unlink(missing_ok=True)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """What `badak.load` reads from the file at that address, which is fetched once. No code in it is run."""
    folder = Path(model_dir or os.path.join(get_dir(), "checkpoints"))
    folder.mkdir(parents=True, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    place = folder / name
    if not place.exists():
        sys.stderr.write(f'Downloading: "{url}" to {place}\n')
        begin = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, str(place), begin[1] if begin else None, progress)
    return _load(place, map_location=map_location)


def _refused(repo_or_dir: Any = None, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotSupportedError: a hub's entry points are programs."""
    cause = tr("torch.hub: badak runs no programs from {}", repo_or_dir)
    raise NotSupportedError(cause, "clone the repository and import it, or load_state_dict_from_url")


load = list = help = _refused  # noqa: A001  (PyTorch's names)
