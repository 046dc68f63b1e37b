"""What is said of the machine."""

from badak.inspect.profiling import machine


def test_the_caches_are_told_by_level(tmp_path):
    for number, (level, kind, size) in enumerate([("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2048K")]):
        place = tmp_path / f"index{number}"
        place.mkdir()
        for name, value in (("level", level), ("type", kind), ("size", size)):
            (place / name).write_text(f"{value}\n")
    (tmp_path / "index9").mkdir()
    assert machine.caches(tmp_path) == "L1 48K, L2 2048K" and machine.caches(tmp_path / "none") == ""
