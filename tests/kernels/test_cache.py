"""The cache of compiled kernels: what is damaged, full, read-only or nowhere costs time and stops nothing."""

import errno
import os
import pickle
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import util
from pathlib import Path

import pytest

from tests.kernels.twin import fast_kernels
from tests.waiting import HANGS

fast = fast_kernels()

from badak.kernels.numba.codegen import atomics, cache, compile  # noqa: E402
from badak.kernels.numba.codegen.cache import Shelf, choose_folder  # noqa: E402
from badak.kernels.numba.threadpool import pool as teams  # noqa: E402


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A cache of its own for what a test compiles."""
    monkeypatch.setattr(compile, "_SHELF", Shelf(tmp_path / "kept"))
    monkeypatch.setattr(compile, "FOLDER", tmp_path / "kept")
    return compile._SHELF


@pytest.fixture
def compile_one(tmp_path, shelf, monkeypatch):
    """Compile a function, or load it from the cache, as a new process would."""
    path = tmp_path / "one.py"
    path.write_text("def write_7(address):\n    atomic_store(address, 7)\n")

    def load():
        spec = util.spec_from_file_location("one", path)
        module = util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "one", module)  # Numba imports the module of a kernel that it loads
        spec.loader.exec_module(module)
        module.atomic_store = atomics.atomic_store
        compiled = compile.compile_function(module.write_7, "i")
        import ctypes

        place = ctypes.c_int64(0)
        compiled(ctypes.addressof(place))
        assert place.value == 7
        return sum(compiled.stats.cache_hits.values())

    return load


def cut(share):
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def flip(place):
    def flipped(path):
        data = bytearray(path.read_bytes())
        data[int(place * (len(data) - 1))] ^= 1
        path.write_bytes(data)

    return flipped


def forge(payload):
    """A file whose hash is right and whose content is not what this Numba wrote."""
    return lambda path: Shelf(path.parent).put(path.name, payload)


def make_folder(path):
    path.unlink()
    path.mkdir()


DAMAGE = {
    "gone": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "text": lambda path: path.write_text("not a kernel"),
    "a folder": make_folder,
    **{f"cut to {share}": cut(share) for share in (0.001, 0.1, 0.5, 0.9, 0.9999)},
    **{f"a bit at {place}": flip(place) for place in (0, 0.001, 0.01, 0.2, 0.5, 0.8, 1)},
    "no pickle": forge(b"not a pickle"),
    "another value": forge(pickle.dumps(3)),
    "another table": forge(pickle.dumps((1, 2, 3))),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_compiled_anew_and_said_once(compile_one, shelf, capfd, damage):
    assert compile_one() == 0 and compile_one() == 1
    (path,) = shelf.folder.iterdir()
    DAMAGE[damage](path)
    assert compile_one() == 0
    said = capfd.readouterr().err
    assert said.count("\n") == {"gone": 0, "a folder": 2}.get(damage, 1), said
    assert damage == "gone" or said.startswith("badak: a kept kernel cannot be used (") and str(path) in said
    if damage != "a folder":
        assert compile_one() == 1 and capfd.readouterr().err == ""


@pytest.mark.parametrize("problem", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_cache_that_cannot_be_written_is_said_once(compile_one, shelf, capfd, monkeypatch, problem):
    def refuse(path, mode):
        raise OSError(problem, os.strerror(problem))

    monkeypatch.setattr(cache, "open", refuse, raising=False)
    assert compile_one() == compile_one() == 0
    said = capfd.readouterr().err
    assert said == (f"badak: kernels cannot be kept in {shelf.folder} ({os.strerror(problem)}), each process compiles them again\n")
    assert not list(shelf.folder.iterdir())


def test_a_folder_that_is_a_file_is_said_once(compile_one, shelf, capfd):
    shelf.folder.write_text("not a folder")
    assert compile_one() == compile_one() == 0
    assert capfd.readouterr().err.count("kernels cannot be kept") == 1


def test_a_user_without_a_home_has_the_packages_folder_or_none(monkeypatch, tmp_path):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", staticmethod(homeless))
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "numba")
    assert choose_folder("1").parent == tmp_path / "numba" / "__pycache__"
    (tmp_path / "other").write_text("")
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "other")
    assert choose_folder("1") is None


def test_kernels_of_an_installation_that_nobody_may_write_are_used(monkeypatch, tmp_path):
    for name in ("NUMBA_CACHE_DIR", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "numba")
    own = choose_folder("1")
    Shelf(own).put("a", b"warmed")
    monkeypatch.setattr(cache.os, "access", lambda folder, mode: not str(folder).startswith(str(own)))  # root may write anywhere
    users = choose_folder("1")
    assert users == tmp_path / "home" / "badak" / own.name
    shelf = Shelf(users, own)
    shelf.put("b", b"later")
    assert [shelf.get(name) for name in "abc"] == [b"warmed", b"later", None] and not (own / "b").exists()
    monkeypatch.setattr(cache.os, "access", lambda folder, mode: False)
    assert choose_folder("1") == own


def test_a_change_in_any_source_of_the_fast_set_is_another_stamp(monkeypatch, tmp_path):
    shutil.copytree(cache.FOLDER, tmp_path / "numba", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "numba")
    paths = [path for path in cache.FOLDER.rglob("*.py") if path.name != "__init__.py"]
    stamps = {cache.source_stamp("1"), cache.source_stamp("2")}
    for path in paths:
        source = path.read_bytes()
        path.write_bytes(source + b"#")
        stamps.add(cache.source_stamp("1"))
        path.write_bytes(source)
    assert len(stamps) == 2 + len(paths) and {path.parent.name for path in paths} >= {"numba", "codegen", "threadpool", "simd"}
    (cache.FOLDER / "simd" / "more.py").write_text("x = 1\n")
    assert cache.source_stamp("1") not in stamps


def test_a_kernel_is_compiled_anew_where_a_file_that_it_is_made_of_changes(monkeypatch, tmp_path):
    """And only there: whoever works on one kernel does not wait for the others."""
    kernels = tmp_path / "kernels"
    shutil.copytree(cache.FOLDER.parent, kernels, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "FOLDER", kernels / "numba")

    def changed(name):
        found = {path for path in paths if kernels / name in cache.parts_of(path)}
        return {path.stem for path in found}

    paths = [kernels / "numba" / f"{name}.py" for name in ("matmul", "activation", "attention", "softmax")]
    assert changed("numba/simd/tiles.py") == {"matmul", "attention"}  # attention multiplies by way of gemm
    assert changed("numba/simd/functions.py") >= {"activation", "softmax"}
    assert changed("numba/activation.py") == {"activation"}
    for name in ("numba/codegen/drivers.py", "numba/threadpool/parallel.py", "update.py", "numba/_blocks.py"):
        assert changed(name) == {path.stem for path in paths}, name
    elsewhere = tmp_path / "update.py"
    elsewhere.write_text("")
    assert kernels / "numba" / "activation.py" in cache.parts_of(elsewhere)
    before = cache.sources_of.__wrapped__(paths[0])
    with (kernels / "numba" / "simd" / "gemm.py").open("a") as file:
        file.write("#")
    assert cache.sources_of.__wrapped__(paths[0]) != before


@pytest.mark.parametrize("asked", ["99999", "0", "-1", "two", "1.5", "1e3", "٣", "9" * 5000])
def test_a_number_of_threads_that_means_nothing_is_refused(monkeypatch, asked):
    monkeypatch.setenv("BADAK_NUM_THREADS", asked)
    with pytest.raises(ValueError, match=r"^BADAK_NUM_THREADS: expected a number of threads from 1 to 1024; got .*\nfix: "):
        teams._default_size()


def test_threads_that_the_system_does_not_give_are_done_without(monkeypatch, capfd):
    team = teams._Team()
    team.size, team.address = 5, 1
    monkeypatch.setattr(teams, "JIT", True)
    monkeypatch.setattr(teams.threading.Thread, "start", lambda thread: (_ for _ in ()).throw(RuntimeError("can't start")))
    team._served, team._make_semaphores = None, lambda: None
    team.start()
    assert team.size == 1
    assert capfd.readouterr().err == "badak: 5 threads were asked for, the system gives 1\n"


def test_a_line_for_a_stream_that_is_gone_is_dropped(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    cache.to_stderr("nobody hears this")


def test_what_another_process_makes_is_waited_for(tmp_path):
    """Two shelves on one folder hold a lock against each other as two processes do."""
    maker, others = Shelf(tmp_path), [Shelf(tmp_path) for _ in range(2)]
    assert maker.get_or_make("a") is None and maker.get_or_make("a") is None
    with ThreadPoolExecutor() as threads:
        found = [threads.submit(other.get_or_make, "a") for other in others]
        assert others[0].get_or_make("b") is None  # another one is not waited for
        assert not any(each.done() for each in found)
        maker.put("a", b"made")
        assert [each.result(HANGS) for each in found] == [b"made"] * 2
    maker.made("a")
    others[0].made("b")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_who_could_not_make_it_or_is_gone_or_hangs_is_followed(tmp_path, monkeypatch):
    maker, other, third = (Shelf(tmp_path) for _ in range(3))
    assert maker.get_or_make("a") is None
    maker.made("a")
    assert other.get_or_make("a") is None
    os.close(other._making.pop("a"))  # as the system does when its process is killed
    assert third.get_or_make("a") is None and third._making
    monkeypatch.setattr(cache, "_HANGS", 0)
    assert maker.get_or_make("a") is None and not maker._making


def test_without_locks_each_process_makes_its_own(tmp_path, monkeypatch):
    def refuse(handle):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(cache, "lock_now", refuse)
    assert Shelf(tmp_path).get_or_make("a") is None and Shelf(tmp_path).get_or_make("a") is None
