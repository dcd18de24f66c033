"""Files and folders appear complete or not at all."""

import errno
import os
import stat

import pytest

from homodyn.errors import FormatError
from homodyn.foundation import (
    atomic_file,
    atomic_folder,
    files,
    read_bytes,
    write_bytes,
    write_text,
)


def test_a_file_replaces_its_predecessor_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "one")
    os.chmod(path, 0o640)
    write_bytes(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def write_half(path):
    with atomic_file(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "one")
    with pytest.raises(RuntimeError):
        write_half(path)
    assert path.read_text() == "one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_temporary_files_keep_the_suffix(tmp_path):
    with atomic_file(tmp_path / "a.png") as temporary:
        assert temporary.suffix == ".png"


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(FormatError, match="cannot be written"):
        write_text(tmp_path / "nowhere" / "a.txt", "one")


def test_reading_refuses_folders_large_and_missing_files(tmp_path):
    with pytest.raises(FormatError, match="folder"):
        read_bytes(tmp_path, 10)
    with pytest.raises(FormatError, match="no such file"):
        read_bytes(tmp_path / "a", 10)
    write_bytes(tmp_path / "a", b"x" * 2_000_000)
    with pytest.raises(FormatError, match="too large for a model; the limit is 1 MB"):
        read_bytes(tmp_path / "a", 1_000_000, "model")


def fill(folder, text="x"):
    (folder / "result.txt").write_text(text)


def fill_half(path):
    with atomic_folder(path) as folder:
        fill(folder)
        raise RuntimeError


def test_a_folder_is_complete_or_absent(tmp_path):
    with pytest.raises(RuntimeError):
        fill_half(tmp_path / "a" / "out")
    assert list((tmp_path / "a").iterdir()) == []
    with atomic_folder(tmp_path / "a" / "out") as folder:
        fill(folder)
    assert (tmp_path / "a" / "out" / "result.txt").read_text() == "x"


def test_only_results_are_replaced_and_only_when_asked(tmp_path):
    out = tmp_path / "out"
    with atomic_folder(out) as folder:
        fill(folder)
    with pytest.raises(FormatError, match="--overwrite"), atomic_folder(out) as folder:
        fill(folder, "y")
    with (
        pytest.raises(FormatError, match="not replaced"),
        atomic_folder(out, overwrite=True, is_replaceable=lambda _: False) as folder,
    ):
        fill(folder, "y")
    with atomic_folder(out, overwrite=True) as folder:
        fill(folder, "y")
    assert (out / "result.txt").read_text() == "y"


def test_an_empty_folder_is_always_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    with atomic_folder(tmp_path / "out") as folder:
        fill(folder)
    assert (tmp_path / "out" / "result.txt").exists()


def test_content_and_name_are_synchronized(tmp_path, monkeypatch):
    order = []
    monkeypatch.setattr(files, "sync", lambda path: order.append((path.name, path.is_dir())))
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda *a: (order.append("rename"), replace(*a))[1])
    write_text(tmp_path / "a.txt", "a")
    assert [entry if entry == "rename" else entry[1] for entry in order] == [False, "rename", True]
    order.clear()
    with files.atomic_folder(tmp_path / "results") as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "b.txt").write_text("b")
    assert order == [
        ("b.txt", False),
        ("sub", True),
        ("new", True),
        "rename",
        (tmp_path.name, True),
    ]


def test_an_error_of_the_disk_leaves_the_old_file(tmp_path, monkeypatch):
    write_text(tmp_path / "a.txt", "old")

    def fail(handle):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FormatError, match="Input/output error"):
        write_text(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    monkeypatch.setenv("HOMODYN_FSYNC", "off")
    write_text(tmp_path / "a.txt", "new")
