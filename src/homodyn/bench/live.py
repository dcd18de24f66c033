"""Latency of live tracking over the loopback interface, while the sender is killed three times."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from homodyn.bench.harness import BenchmarkRow, benchmark, missing
from homodyn.errors import HomodynError

RATE_HZ = 120.0
DURATION_S, QUICK_DURATION_S = 600.0, 20.0
SENDER_RESTARTS = 3
"""Number of times that the sender is killed and started again."""
WARM_UP_S = 3.0
"""Time after each start of the sender that is not part of the figures: the body is placed."""
MAX_MEDIAN_MS, MAX_P99_MS = 5.0, 15.0
"""Required latency from marker to torque."""
MAX_GROWTH_MB = 20.0
"""Growth of the memory of the session that is accepted."""
START_TIMEOUT_S = 300.0
RECEIVE_TIMEOUT_S = 1.0
STOP_TIMEOUT_S = 60.0


@benchmark("live")
def live(quick: bool) -> Iterator[BenchmarkRow]:
    """Latency of homodyn live from marker to torque over loopback at 120 Hz."""
    note = missing("websockets")
    if note:
        yield BenchmarkRow("latency, median", None, MAX_MEDIAN_MS, "ms", None, 1.0, note)
        return
    run = _LiveRun(QUICK_DURATION_S if quick else DURATION_S)
    run.measure()
    latencies = np.array(run.latencies_ms)
    if not len(latencies):
        raise HomodynError("the session sent no result; run homodyn live to see why")
    expected = RATE_HZ * run.measured_s
    remark = (
        f"{len(latencies)} frames, sender killed {SENDER_RESTARTS} times, 1-min load {run.load:.1f}"
    )
    median, p99 = (float(x) for x in np.quantile(latencies, (0.5, 0.99)))
    yield BenchmarkRow(
        "latency, median", median, MAX_MEDIAN_MS, "ms", MAX_MEDIAN_MS / median, 1.0, remark
    )
    yield BenchmarkRow("latency, p99", p99, MAX_P99_MS, "ms", MAX_P99_MS / p99, 1.0)
    share = len(latencies) / expected
    yield BenchmarkRow("frames with a result", share, 1.0, "", share, None)
    if run.memory_mb:
        growth = run.memory_mb[-1] - run.memory_mb[0]
        yield BenchmarkRow(
            "growth of memory",
            growth,
            MAX_GROWTH_MB,
            "MB",
            MAX_GROWTH_MB / max(growth, 0.1),
            1.0,
            f"from {run.memory_mb[0]:.0f} MB after the first sender",
        )


class _LiveRun:
    """One run: the session, the sender and the receiver of results are three processes."""

    def __init__(self, duration_s: float) -> None:
        self.duration_s = duration_s
        self.measured_s = 0.0
        self.latencies_ms: list[float] = []
        self.memory_mb: list[float] = []
        self.load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")

    def measure(self) -> None:
        """Run the session and all senders."""
        from websockets.sync.client import connect

        port, results_port = free_port(socket.SOCK_DGRAM), free_port(socket.SOCK_STREAM)
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            log = stack.enter_context((folder / "log.txt").open("w"))
            words = ["live", f"udp:{port}", "--model", "hdm", "--calibration", "0"]
            words += ["--window", "0", "--send-ws", str(results_port), "-o", str(folder / "out")]
            command = [sys.executable, "-m", "homodyn", *words]
            session = subprocess.Popen(command, stdout=log, stderr=log)
            stack.callback(_end, session)
            address = f"ws://127.0.0.1:{results_port}"
            client = _retry(lambda: connect(address, proxy=None), session)
            stack.callback(client.close)
            for _ in range(SENDER_RESTARTS + 1):
                self._measure_sender(client, port, session)

    def _measure_sender(self, client: Any, port: int, session: subprocess.Popen[bytes]) -> None:
        """Start a sender, receive results for its share of the duration, and kill it."""
        words = ["-m", "homodyn.bench.live_sender", str(port), str(RATE_HZ)]
        sender = subprocess.Popen([sys.executable, *words])
        try:
            first = None
            patience = perf_counter() + START_TIMEOUT_S
            while first is None and perf_counter() < patience and session.poll() is None:
                if _latency_ms(client) is not None:
                    first = perf_counter()
            if first is None:
                return
            begin = first + WARM_UP_S
            end = begin + self.duration_s / (SENDER_RESTARTS + 1)
            while perf_counter() < end:
                latency_ms = _latency_ms(client)
                if latency_ms is not None and perf_counter() > begin:
                    self.latencies_ms.append(latency_ms)
            self.measured_s += end - begin
            memory = resident_mb(session.pid)
            if memory is not None:
                self.memory_mb.append(memory)
        finally:
            sender.kill()
            sender.wait()


def _latency_ms(client: Any) -> float | None:
    """Receive a message; the time since its markers were stamped (ms), None for other messages."""
    try:
        data = json.loads(client.recv(timeout=RECEIVE_TIMEOUT_S))
    except TimeoutError:
        return None
    return 1e3 * (perf_counter() - data["time"]) if "time" in data else None


def free_port(kind: socket.SocketKind) -> int:
    """A port of this machine that is free at present.

    Args:
        kind: Stream or datagram.

    Returns:
        Its number.
    """
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def resident_mb(pid: int) -> float | None:
    """Resident memory of a process (MB); None where the system does not tell.

    Args:
        pid: Number of the process.

    Returns:
        The memory.
    """
    try:
        text = Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
    except OSError:
        return None
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _retry(connect: Any, session: subprocess.Popen[bytes]) -> Any:
    """Connect as soon as the session listens."""
    import time

    end = perf_counter() + START_TIMEOUT_S
    while perf_counter() < end and session.poll() is None:
        try:
            return connect()
        except OSError:
            time.sleep(0.2)
    raise HomodynError("homodyn live does not listen")


def _end(session: subprocess.Popen[bytes]) -> None:
    session.terminate()
    try:
        session.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        session.kill()
        session.wait()
