"""The disk cache: whatever happens to it, kernels answer and never crash."""

import errno
import os
import signal
import subprocess
import sys
import time
import warnings

import casadi as ca
import numpy as np
import pytest

from homodyn.symbolic import build_queue, cache, kernel, machine
from homodyn.symbolic.compiler import find_compiler

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")

X = np.arange(12.0).reshape(4, 3)


def created():
    return kernel(lambda x: ca.sin(x) * x + 1, x=3)


def answers(function) -> bool:
    return np.allclose(function(X), np.sin(X) * X + 1, rtol=1e-14)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    monkeypatch.setenv("HOMODYN_CACHE", str(place))
    return place


def libraries(folder):
    return sorted(folder.glob(f"*/{cache.LIBRARY_FILE}"))


def test_a_library_is_built_once_and_found_again(folder):
    assert answers(created().compile())
    (library,) = libraries(folder)
    built = library.stat().st_mtime_ns
    again = created()
    for _ in range(100):
        assert answers(again)
    assert again.compiled
    assert library.stat().st_mtime_ns == built
    assert machine().cache == folder


def test_other_text_compiler_or_lanes_make_other_keys(folder, monkeypatch):
    created().compile()
    kernel(lambda x: ca.sin(x) * x + 2, x=3).compile()
    assert len(libraries(folder)) == 2
    monkeypatch.setenv("HOMODYN_LANES", "1")
    created().compile()
    assert len(libraries(folder)) == 3


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "no checksum", "no library"])
def test_a_damaged_entry_is_built_again(folder, damage):
    created().compile()
    (library,) = libraries(folder)
    content = library.read_bytes()
    if damage == "truncated":
        library.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        middle = len(content) // 2
        library.write_bytes(
            content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        )
    elif damage == "empty":
        library.write_bytes(b"")
    elif damage == "no checksum":
        (library.parent / cache.CHECKSUM_FILE).unlink()
    else:
        library.unlink()
    function = created().compile()
    assert function.compiled
    assert answers(function)
    assert cache.find(library.parent.name) is not None


def test_a_folder_that_cannot_be_written_is_reported_once_and_avoided(tmp_path, monkeypatch):
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    monkeypatch.setenv("HOMODYN_CACHE", str(occupied))
    with pytest.warns(UserWarning, match="the kernel cache cannot be used"):
        function = created().compile()
    assert function.compiled
    assert answers(function)
    assert occupied.read_text() == "not a folder"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a read-only file system")
def test_a_read_only_folder_is_worked_around(monkeypatch):
    monkeypatch.setenv("HOMODYN_CACHE", "/proc/self/cache")
    with pytest.warns(UserWarning, match="the kernel cache cannot be used"):
        function = created().compile()
    assert function.compiled
    assert answers(function)


def test_a_full_disk_under_the_cache_is_worked_around(folder, monkeypatch):
    def full(place, entry):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache, "_move", full)
    with pytest.warns(UserWarning, match="No space left on device"):
        function = created().compile()
    assert function.compiled
    assert answers(function)
    assert not list(folder.iterdir())


def test_no_space_for_any_library_leaves_the_interpreter_at_work(folder):
    """No file may grow beyond a kilobyte: neither the cache nor a temporary folder can hold it."""
    script = f"""
import resource, warnings, numpy as np, casadi as ca
from homodyn.symbolic import kernel
function = kernel(lambda x: ca.sin(x) * x + 1, x=3)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    function.compile()
x = np.array({X.tolist()})
assert not function.compiled
assert np.allclose(function(x), np.sin(x) * x + 1)
assert "stays on the virtual machine" in str(said[0].message), said
"""
    environment = {**os.environ, "HOMODYN_CACHE": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


WORKER = """
import numpy as np, casadi as ca
from homodyn.symbolic import kernel
def long(x):
    for _ in range(2):
        x = ca.sin(x @ x)
    return x
function = kernel(long, x=(6, 6))
function.compile()
assert function.compiled
print(float(function(np.full((6, 6), 0.1)).sum()))
"""


def start(folder):
    environment = {**os.environ, "HOMODYN_CACHE": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_processes_that_build_the_same_kernel_at_once_agree(folder):
    workers = [start(folder) for _ in range(4)]
    outputs = []
    for worker in workers:
        out, err = worker.communicate(timeout=120)
        assert worker.returncode == 0, err
        outputs.append(out)
    assert len(set(outputs)) == 1
    assert len(libraries(folder)) == 1
    assert not list(folder.glob(f"{cache.BUILD_FOLDER_PREFIX}*"))


def test_a_process_killed_while_building_leaves_nothing_that_hurts(folder):
    worker = start(folder)
    deadline = time.monotonic() + 300
    while not list(folder.glob(f"{cache.BUILD_FOLDER_PREFIX}*")) and time.monotonic() < deadline:
        time.sleep(0.001)
    os.killpg(worker.pid, signal.SIGKILL)
    worker.communicate()
    assert worker.returncode == -signal.SIGKILL
    follower = start(folder)
    out, err = follower.communicate(timeout=120)
    assert follower.returncode == 0, err
    assert float(out)


def test_remains_of_killed_processes_are_removed_after_a_day(folder):
    folder.mkdir()
    old, young = (
        folder / f"{cache.BUILD_FOLDER_PREFIX}old",
        folder / f"{cache.BUILD_FOLDER_PREFIX}young",
    )
    for left in (old, young):
        left.mkdir()
    os.utime(old, (0, 0))
    created().compile()
    assert not old.exists()
    assert young.exists()


def test_usage_and_clear_count_what_is_kept(folder):
    assert cache.usage() == (0, 0)
    assert cache.clear() == (0, 0)
    created().compile()
    files, size = cache.usage()
    assert files == 1
    assert size > 1000
    (folder / "another file").write_text("stays")
    assert cache.clear() == (files, size)
    assert cache.usage() == (0, 0)
    assert (folder / "another file").exists()


def test_usage_leaves_out_what_another_process_is_building(folder):
    created().compile()
    before = cache.usage()
    building = folder / "building-elsewhere"
    building.mkdir()
    (building / "kernel.so").write_bytes(b"unfinished")
    assert cache.usage() == before


def test_a_compiler_that_fails_leaves_the_interpreter_at_work(folder, tmp_path, monkeypatch):
    """It describes itself like the real one, and then refuses every file."""
    real = find_compiler().path
    broken = tmp_path / "cc"
    broken.write_text(
        f'#!/bin/sh\ncase "$*" in *-c*|*-shared*) exit 7;; *) exec {real} "$@";; esac\n'
    )
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.warns(UserWarning, match="stays on the virtual machine"):
        function = created().compile()
    assert not function.compiled
    assert answers(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert answers(function)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of POSIX systems")
class TestOwnership:
    """Libraries run as code: nothing that another user could have written is loaded."""

    def test_what_is_created_belongs_to_this_user_alone(self, folder):
        created().compile()
        (library,) = libraries(folder)
        for path in (folder, library.parent, library, library.parent / cache.CHECKSUM_FILE):
            assert path.stat().st_mode & 0o077 == 0, path

    @pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
    def test_a_folder_that_others_can_write_is_not_used(self, folder, mode):
        created().compile()
        folder.chmod(mode)
        (entry,) = (library.parent for library in libraries(folder))
        assert cache.find(entry.name) is None
        with pytest.warns(UserWarning, match="can be written by other users"):
            assert answers(created().compile())
        folder.chmod(0o700)
        assert cache.find(entry.name) is not None

    @pytest.mark.parametrize("name", ["", cache.LIBRARY_FILE, cache.CHECKSUM_FILE])
    def test_an_entry_that_others_can_write_is_not_loaded(self, folder, name):
        created().compile()
        (entry,) = (library.parent for library in libraries(folder))
        (entry / name).chmod(0o777)
        assert cache.find(entry.name) is None

    def test_what_belongs_to_another_user_is_not_loaded(self, folder, monkeypatch):
        created().compile()
        (entry,) = (library.parent for library in libraries(folder))
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
        assert "belongs to another user" in cache.distrust(folder)
        assert cache.find(entry.name) is None

    def test_jobs_of_other_users_are_not_built(self, folder):
        cache.create_folder()
        (folder / "queue").mkdir(mode=0o777)
        (folder / "queue").chmod(0o777)
        job = folder / "queue" / f"{'0' * 64}.json"
        job.write_text("{}")
        build_queue.drain_queue(5.0)
        assert job.exists()
