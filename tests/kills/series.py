"""Programs that are killed at random times, again and again, and what must be true afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.demo import DEMO_TRIAL_FOLDER
from support.waiting import until

ORPHAN_PATIENCE_S = 120.0
"""Time after which a process that outlives its killed parent is an orphan."""


@dataclass
class Report:
    """What a series of kills found."""

    name: str
    kills: int = 0
    ended: int = 0
    """Runs that ended before they were killed."""
    faults: list[str] = field(default_factory=list)
    """Sentences on anything lost, damaged, left behind or different."""


class Series:
    """A program that is killed; `run` is called in a process of its own.

    Args:
        folder: An empty folder.
    """

    name = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds = 1.0
        """Time (s) within which the program is killed."""
        self.kills = 0

    def run(self) -> None:
        """Do the work, or the rest of it."""
        raise NotImplementedError

    def is_ready(self) -> bool:
        """Whether the time until the kill begins."""
        return True

    def check(self) -> list[str]:
        """Faults after a kill."""
        return []

    def finish(self) -> list[str]:
        """Faults after the work was completed without a kill."""
        return []

    def close(self) -> None:
        """End what the series started."""


class Analyze(Series):
    """``homodyn analyze`` of three recordings; every tenth run has two worker processes."""

    name = "analyze"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        from homodyn import capture
        from homodyn.analysis import Settings
        from homodyn.capture import Trial

        whole = capture.read(DEMO_TRIAL_FOLDER / "walk.c3d")
        self.trials = []
        for k in range(3):
            path = folder / f"trial{k}.c3d"
            part = slice(40 * k, 40 * k + 60)
            cut = Trial(f"trial{k}", whole.markers, whole.positions[part], whole.rate)
            capture.write(cut, path)
            self.trials.append(path)
        self.settings = Settings(model=DEMO_TRIAL_FOLDER / "truth" / "subject.toml")
        self.output = folder / "results"
        self.generation = 0
        started = time.monotonic()
        # In a process of its own, because threads do not survive the start of further ones.
        complete(lambda: self._analyze(folder / "reference", 1), folder / "log")
        self.seconds = time.monotonic() - started
        self.reference = digests(folder / "reference")

    def _analyze(self, output: Path, jobs: int) -> None:
        from homodyn.analysis import analyze_batch
        from homodyn.analysis.batch import BatchOptions
        from homodyn.report import HtmlPages

        found = analyze_batch(
            self.trials, self.settings, output, BatchOptions(jobs=jobs), pages=HtmlPages()
        )
        assert not found.failed, found.failed

    def run(self) -> None:
        self._analyze(self.output, 2 if self.kills % 10 == 9 else 1)

    def check(self) -> list[str]:
        found = digests(self.output)
        wrong = [name for name in found if found[name] != self.reference[name]]
        faults = [f"{name} is not whole" for name in wrong]
        if set(found) == set(self.reference):
            faults += self.finish()
            for path in sorted(self.output.rglob("*"), reverse=True):
                path.unlink() if path.is_file() else path.rmdir()
        return faults

    def finish(self) -> list[str]:
        if digests(self.output) != self.reference:
            return ["the completed results differ from those of an uninterrupted run"]
        return []


def digests(folder: Path) -> dict[str, str]:
    """A digest of the tables, and of the names of all files, of each result in a folder."""
    found = {}
    for result in sorted(folder.glob("[!.]*/")) if folder.is_dir() else ():
        digest = hashlib.sha256()
        for path in sorted(path for path in result.rglob("*") if path.is_file()):
            digest.update(str(path.relative_to(result)).encode())
            if path.suffix in (".csv", ".mot", ".sto", ".toml"):
                digest.update(path.read_bytes())
        found[result.name] = digest.hexdigest()
    return found


class Search(Series):
    """``homodyn search`` on a pool, killed after a few more candidates."""

    name = "search"
    where = "pool"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        from support.search_objectives import camel

        self.database = folder / "parts.db"
        whole = folder / "whole.db"
        complete(lambda: self._search(whole, camel, "serial"), folder / "log")
        self.expected = self._fingerprint(whole)
        self.seconds = 3.0

    def _search(self, path: Path, function: Callable, where: str) -> None:
        from homodyn.search import PSO, run
        from support.search_objectives import camel_job

        job = camel_job(optimizer=PSO(20), iterations=60)
        run(job, function, database=path, where=where)

    def _fingerprint(self, path: Path) -> str:
        from homodyn.search import Study

        study = Study.open(path)
        try:
            return study.fingerprint()
        finally:
            study.close()

    def run(self) -> None:
        from support.search_objectives import slow_camel

        self._search(self.database, slow_camel, self.where)

    def check(self) -> list[str]:
        import sqlite3

        if not self.database.exists():
            return []
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            (answer,) = database.execute("pragma integrity_check").fetchone()
        return [] if answer == "ok" else [f"the database is damaged: {answer}"]

    def finish(self) -> list[str]:
        same = self._fingerprint(self.database) == self.expected
        return [] if same else ["the resumed study differs from the uninterrupted one"]


class DaskSearch(Search):
    """A search on a Dask cluster whose client is killed."""

    name = "dask"

    def __init__(self, folder: Path) -> None:
        import socket

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.where = f"tcp://127.0.0.1:{port}"
        self.log = folder / "scheduler.log"
        options = ["--no-dashboard", "--host=127.0.0.1"]
        worker = ["distributed.cli.dask_worker", self.where, "--nthreads=1", "--no-nanny"]
        self.processes = [
            self._start(["distributed.cli.dask_scheduler", f"--port={port}", *options]),
            *(self._start([*worker, f"--name={k}", *options]) for k in "ab"),
        ]
        super().__init__(folder)

    def _start(self, words: list[str]) -> subprocess.Popen:
        with self.log.open("a") as log:
            return subprocess.Popen(
                [sys.executable, "-m", *words], stdout=log, stderr=log, env=environment()
            )

    def finish(self) -> list[str]:
        log = self.log.read_text(errors="replace")
        faults = super().finish()
        if "Traceback" in log:
            first = log[max(0, log.index("Traceback") - 200) :][:1500]
            faults.append(f"{log.count('Traceback')} tracebacks in the logs: {first}")
        return faults

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


class CacheBuild(Series):
    """Native kernels that are built into one cache."""

    name = "cache"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.cache = folder / "cache"
        self.seconds = 1.5

    def _kernel(self, number: int) -> Any:
        import casadi as ca

        from homodyn.symbolic import kernel

        return kernel(lambda x: ca.sin(x) * x + number, x=3)

    def run(self) -> None:
        os.environ["HOMODYN_CACHE"] = str(self.cache)
        for number in range(1000):
            self._kernel(number + 7 * self.kills).compile()

    def check(self) -> list[str]:
        os.environ["HOMODYN_CACHE"] = str(self.cache)
        x = np.arange(3.0)
        for number in range(7 * self.kills, 7 * self.kills + 2):
            with contextlib.suppress(FileNotFoundError):
                if not np.allclose(self._kernel(number)(x), np.sin(x) * x + number, rtol=1e-14):
                    return [f"kernel {number} gives wrong numbers"]
        return []

    def finish(self) -> list[str]:
        from homodyn.symbolic import cache

        # Folders of unfinished builds are removed when they are old.
        entries = [
            library.parent
            for library in self.cache.glob(f"*/{cache.LIBRARY_FILE}")
            if not library.parent.name.startswith(cache.BUILD_FOLDER_PREFIX)
        ]
        broken = [entry.name for entry in entries if not (entry / cache.CHECKSUM_FILE).exists()]
        return [f"entry {name} has no checksum" for name in broken]


class LiveStudio(Series):
    """A studio with a page open in a browser, whose body changes all the time."""

    name = "studio"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        import socket

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.home = folder / "home"
        self.acknowledged = folder / "acknowledged"
        self.seconds = 2.0
        self.connected = 0
        """Kills with a page connected."""
        self.browser = None
        studio = start(self.run, folder / "log")
        try:
            until(self.acknowledged.exists, "a studio", patience=300.0)
            self._open_page()
            if self.browser is not None:
                until(lambda: self._acknowledged()[2] != "0", "a page", patience=300.0)
        finally:
            os.kill(studio, signal.SIGKILL)
            os.waitpid(studio, 0)
        self.acknowledged.unlink()

    def _acknowledged(self) -> list[str]:
        """The last change that was saved, the folder of its studio, and its number of pages."""
        return self.acknowledged.read_text().split()

    def _open_page(self) -> None:
        """Open a page, which connects again after each kill."""
        chromium = shutil.which("chromium")
        if chromium is None:
            return
        self.browser = subprocess.Popen(
            [
                chromium,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-port=0",
                f"--user-data-dir={self.folder / 'profile'}",
                f"http://127.0.0.1:{self.port}/?fixedDpr=0.3&token=secret-token",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def run(self) -> None:
        from homodyn.studio import Session
        from homodyn.studio.file_opening import from_catalog
        from homodyn.studio.studio import Studio

        body = from_catalog("bip")
        session = Session()
        session.change("add", lambda d: d.with_actor(body), in_file=True)
        studio = Studio(session, port=self.port, token="secret-token", home=self.home)
        studio.autosave.delay = 0.05
        studio.start()
        for k in range(1, 10**6):
            pose = body.q + 1e-3 * k
            session.change("pose", lambda d, pose=pose: d.with_active(d.actor.with_pose(pose)))
            studio.autosave.write()
            clients = len(studio.server.get_clients())
            temporary = self.acknowledged.with_suffix(".new")
            temporary.write_text(f"{k} {studio.autosave.folder.name} {clients}")
            os.replace(temporary, self.acknowledged)
            time.sleep(0.02)

    def is_ready(self) -> bool:
        """Whether the page is connected again."""
        return self.acknowledged.exists() and (
            self.browser is None or self._acknowledged()[2] != "0"
        )

    def check(self) -> list[str]:
        from homodyn.studio.autosave import find_recoverable_work
        from homodyn.studio.file_opening import from_catalog

        if not self.acknowledged.exists():
            return []
        saved, folder, clients = self._acknowledged()
        self.acknowledged.unlink()
        self.connected += clients != "0"
        works = [work for work in find_recoverable_work(self.home) if work.folder.name == folder]
        if len(works) != 1:
            return [f"{len(works)} recoverable works after change {saved}"]
        pose = works[0].read().actor.q - from_catalog("bip").q
        number = float(np.median(pose)) / 1e-3
        works[0].delete()
        whole = np.allclose(pose, pose[0], atol=1e-9) and abs(number - round(number)) < 1e-6
        if not whole or round(number) < int(saved):
            return [f"change {saved} was saved, change {number:g} was recovered"]
        return []

    def finish(self) -> list[str]:
        if self.browser is not None and 2 * self.connected < self.kills:
            return [f"a page was connected at {self.connected} kills only"]
        return []

    def close(self) -> None:
        if self.browser is not None:
            self.browser.kill()
            self.browser.wait()


class LiveRecording(Series):
    """``homodyn live`` that records a stream of markers."""

    name = "live"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        from homodyn import capture, save
        from homodyn.capture import Trial
        from support.live_arm import LABELS, RATE, arm, arm_frame

        model = arm()
        save(model, folder / "arm.toml")
        positions = np.stack([arm_frame(model, k).positions for k in range(6000)])
        capture.write(Trial("swing", LABELS, positions, RATE), folder / "swing.csv")
        self.output = folder / "out"
        self.seen = 0
        """Rows that were in the file before the kill."""

    def run(self) -> None:
        from homodyn.cli import app

        words = ["live", f"file:{self.folder / 'swing.csv'}", "--model"]
        words += [str(self.folder / "arm.toml"), "--calibration", "0", "-o", str(self.output)]
        app(words, standalone_mode=False)

    def _rows(self) -> int:
        table = self.output / "frames.csv"
        return table.read_text().count("\n") if table.exists() else 0

    def is_ready(self) -> bool:
        self.seen = self._rows() - 1
        return self.seen > 5

    def check(self) -> list[str]:
        faults = self._damage()
        shutil.rmtree(self.output, ignore_errors=True)
        return faults

    def _damage(self) -> list[str]:
        """What is wrong with the files of a recording that was killed."""
        from homodyn import capture

        lines = (self.output / "frames.csv").read_text().split("\n")
        # A kill may cut the row that is being written.
        rows = [line.split(",") for line in lines[1:-1]]
        if len(rows) < self.seen:
            return [f"{self.seen} rows were written, {len(rows)} are left"]
        if {len(row) for row in rows} != {len(lines[0].split(","))}:
            return ["a row of frames.csv is not whole"]
        times = np.array([float(row[0]) for row in rows])
        if not (np.diff(times) > 0).all():
            return ["the times of frames.csv do not increase"]
        motion = capture.read_table(self.output / "motion.mot", partial=True)
        markers = capture.read(self.output / "markers.trc", up="y", partial=True)
        if min(len(motion.time), markers.frames) < len(rows) - 1:
            return ["motion.mot or markers.trc has less frames than frames.csv"]
        return []


SERIES = {
    one.name: one for one in (Analyze, Search, DaskSearch, CacheBuild, LiveStudio, LiveRecording)
}


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def start(function: Callable[[], None], log: Path) -> int:
    """Call a function in a new process, which leads a session of its own; its number."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        os.setsid()
        forget_fork_server()
        with log.open("a") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        function()
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def forget_fork_server() -> None:
    """Let a forked process start a fork server of its own: that of its parent is no child of it."""
    server = forkserver._forkserver  # type: ignore[attr-defined]
    server._forkserver_address = server._forkserver_alive_fd = server._forkserver_pid = None


def complete(function: Callable[[], None], log: Path) -> None:
    """Call a function in a new process and wait for its end."""
    _, status = os.waitpid(start(function, log), 0)
    if status:
        raise RuntimeError(log.read_text())


def is_running(process: int) -> bool:
    """Whether a child has not ended yet; its status can still be asked for."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def session_members(session: int) -> list[int]:
    """Processes of a session that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(words[3]) == session and words[0] not in ("Z", "X"):
                    found.append(int(entry.name))
    return found


def wait_for_end(session: int) -> list[int]:
    """Processes of a session that outlive `ORPHAN_PATIENCE_S`; they are ended here."""
    deadline = time.monotonic() + ORPHAN_PATIENCE_S
    while (left := session_members(session)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in left:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    return left


def run_series(name: str, count: int, folder: Path, seed: int = 1) -> Report:
    """Kill a program a number of times at random, then let it complete its work.

    Args:
        name: Name of the series.
        count: Number of kills.
        folder: An empty folder.
        seed: Seed of the times.

    Returns:
        The report.
    """
    report = Report(name)
    source = random.Random(seed)
    series = SERIES[name](folder)
    log = folder / "log"
    try:
        while report.kills < count and report.ended < 20 * count:
            process = start(series.run, log)
            until(lambda process=process: series.is_ready() or not is_running(process), series.name)
            deadline = time.monotonic() + source.uniform(0.0, series.seconds)
            status = None
            while time.monotonic() < deadline and status is None:
                finished, code = os.waitpid(process, os.WNOHANG)
                status = code if finished else None
                time.sleep(0.002)
            if status is None:
                os.kill(process, signal.SIGKILL)
                _, status = os.waitpid(process, 0)
                report.kills += 1
                if orphans := wait_for_end(process):
                    report.faults.append(f"orphans after kill {report.kills}: {orphans}")
            else:
                report.ended += 1
                if status:
                    report.faults.append(f"a run failed: {log.read_text()[-600:]}")
                    break
                if name in ("search", "dask"):
                    report.faults += series.finish()
                    series.database.unlink()
            series.kills = report.kills
            report.faults += series.check()
        if name in ("analyze", "search", "dask"):
            try:
                complete(series.run, log)
            except RuntimeError as error:
                report.faults.append(f"the last run failed: {str(error)[-600:]}")
        report.faults += series.finish()
        text = log.read_text() if log.exists() else ""
        if "Traceback" in text:
            first = text[text.index("Traceback") :][:800]
            report.faults.append(f"tracebacks in the output: {first}")
    finally:
        series.close()
    return report
