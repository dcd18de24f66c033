"""Full and read-only disks: every writer says so in a sentence, and what was there stays whole."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fuzz import seeds
from homodyn import capture, report, save, search
from homodyn.control import TrajectoryPoints, write_trajectory
from homodyn.errors import HomodynError
from homodyn.gait.contact_schedule import FootContact, FootContactPhase, write_contact_schedule
from homodyn.motion import Motion, load_scene, save_scene
from homodyn.search.studies.table_files import export
from homodyn.studio.document import StudioDocument
from homodyn.studio.file_opening import standing_actor
from homodyn.studio.session_store import SessionWriter, read_session
from support.small_models import leg, two_links

DISK_KB = 2000


def motion(frames: int = 50) -> Motion:
    model = leg()
    rest = np.zeros((frames, model.nv))
    q = np.tile(model.neutral(), (frames, 1))
    return Motion(model, np.arange(frames) / 100.0, q, rest, rest)


@cache
def study() -> search.Study:
    return search.minimize(
        lambda at: float(at["x"] ** 2), {"x": (-1, 1)}, iterations=30, seed=1
    ).study


PHASES = (
    FootContactPhase(0.0, 0.1, FootContact.FLAT, FootContact.FOREFOOT),
    FootContactPhase(0.1, 0.45, FootContact.FLAT, FootContact.SWING),
)


def trajectory(path: Path) -> None:
    points = np.zeros((5, 300))
    write_trajectory(path, TrajectoryPoints(points, np.array([0.0, 0.8, 2.0]), (3, 1)))


def run_study(path: Path) -> None:
    search.minimize(
        lambda at: float(at["x"] ** 2), {"x": (-1, 1)}, iterations=60, seed=1, database=path
    )


WRITERS: dict[str, Callable[[Path], object]] = {
    **{
        f"trial{suffix}": lambda path: capture.write(seeds.trial(), path)
        for suffix in (".c3d", ".trc", ".csv")
    },
    **{
        f"forces{suffix}": lambda path: capture.write_plates(seeds.plates(), path)
        for suffix in (".mot", ".sto", ".csv")
    },
    **{
        f"model{suffix}": lambda path: save(two_links(), path)
        for suffix in (".toml", ".lua", ".urdf", ".osim", ".mjcf")
    },
    "scene.toml": lambda path: save_scene(load_scene("complex"), path),
    "points.traj3": trajectory,
    "schedule.csv": lambda path: write_contact_schedule(PHASES, path),
    "report.html": lambda path: report.write(path, motion()),
    "candidates.csv": lambda path: export(study(), path),
}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """An empty file system of `DISK_KB`."""
    if os.name != "posix" or os.geteuid() or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_KB}k", "none", str(folder)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this system does not mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Leave no space."""
    with (folder / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1024))
        except OSError:
            pass


def make_read_only(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


FAULTS = {"full": (fill, "o space"), "read-only": (make_read_only, "ead-only")}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("fault", FAULTS)
def test_files(disk, name, fault):
    path = disk / name
    write = WRITERS[name]
    write(path)
    before = path.read_bytes()
    break_disk, reason = FAULTS[fault]
    break_disk(disk)
    left = sorted(disk.iterdir())
    for target in (path, path.with_stem("other")):
        with pytest.raises(HomodynError, match=reason) as raised:
            write(target)
        assert target.name in str(raised.value)
    assert path.read_bytes() == before
    assert sorted(disk.iterdir()) == left


@pytest.mark.parametrize("fault", FAULTS)
def test_a_study(disk, fault):
    path = disk / "study.db"
    search.minimize(
        lambda at: float(at["x"] ** 2), {"x": (-1, 1)}, iterations=2, seed=1, database=path
    ).study.close()
    FAULTS[fault][0](disk)
    with pytest.raises(HomodynError) as raised:
        run_study(path)
    assert str(path) in str(raised.value)
    if fault == "full":
        (disk / "filler").unlink()
    stored = search.Study.open(path)
    assert len(stored.generations()) >= 2
    stored.close()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_session(disk, fault):
    document = StudioDocument().with_actor(standing_actor(leg()))
    writer = SessionWriter(disk / "session")
    assert writer.write(document) == []
    FAULTS[fault][0](disk)
    try:
        failures = writer.write(document.with_trial(replace(seeds.trial(), name="second")))
    except OSError as error:
        failures = [str(error)]
    assert failures
    assert read_session(disk / "session").names == document.names
