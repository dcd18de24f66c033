"""``homodyn live``: torques and forces from a stream of markers while a person moves."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.models import find
from homodyn.cli.option_groups import AsJson, Overwrite, expand_options

if TYPE_CHECKING:
    from homodyn.model import Model
    from homodyn.track.streams import LiveOptions, LiveSession, LiveSummary
    from homodyn.track.streams.outputs import LiveOutput, MarkerFile


@dataclass(frozen=True)
class PersonOptions:
    """The model and the person."""

    model: Annotated[
        str,
        typer.Option("--model", "-m", metavar="NAME|FILE", help="Model: a catalog name or a file."),
    ] = "hdm"
    height: Annotated[
        float | None, typer.Option("--height", metavar="M", help="Height of the person (m).")
    ] = None
    mass: Annotated[
        float | None, typer.Option("--mass", metavar="KG", help="Mass of the person (kg).")
    ] = None
    calibration: Annotated[
        float,
        typer.Option(
            "--calibration",
            metavar="S",
            help="Time of standing and moving from which the body is fitted (s); 0: use the model "
            "as it is.",
        ),
    ] = 4.0


@dataclass(frozen=True)
class FilterOptions:
    """The filter of the markers and the limit of delays."""

    window: Annotated[
        float,
        typer.Option(
            "--window", metavar="MS", help="Window of the filter of the markers (ms); 0: none."
        ),
    ] = 50.0
    delay: Annotated[
        float | None,
        typer.Option(
            "--delay", metavar="MS", help="Delay of the filter (ms); half the window by default."
        ),
    ] = None
    waiting: Annotated[
        int,
        typer.Option(
            "--waiting",
            metavar="N",
            help="Frames that may wait before the oldest is skipped; 0: skip none.",
        ),
    ] = 3


@dataclass(frozen=True)
class PlayOptions:
    """How a recording is played, and how streams are read."""

    speed: Annotated[
        float,
        typer.Option("--speed", metavar="X", help="Speed of a recording; 1 is its own speed."),
    ] = 1.0
    loop: Annotated[bool, typer.Option("--loop", help="Repeat a recording.")] = False
    up: Annotated[
        str, typer.Option("--up", metavar="z|y", help="Vertical axis of an LSL stream.")
    ] = "z"
    duration: Annotated[
        float | None,
        typer.Option("--duration", metavar="S", help="End after this time (s); never by default."),
    ] = None
    patience: Annotated[
        float | None,
        typer.Option(
            "--patience",
            metavar="S",
            help="End after this time without a connection (s); never by default.",
        ),
    ] = None


@dataclass(frozen=True)
class SendOptions:
    """Where results are sent."""

    send_lsl: Annotated[
        str | None,
        typer.Option("--send-lsl", metavar="NAME", help="Send results as LSL streams NAME_..."),
    ] = None
    send_ws: Annotated[
        int | None,
        typer.Option("--send-ws", metavar="PORT", help="Send results to WebSocket clients."),
    ] = None
    headset: Annotated[
        int | None,
        typer.Option(
            "--headset", metavar="PORT", help="Serve the headset page on this machine; 0: any port."
        ),
    ] = None
    experiment: Annotated[
        Path | None,
        typer.Option(
            "--experiment", metavar="FILE", help="Targets and trials (TOML) for the headset page."
        ),
    ] = None
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Write frames.parquet at the end, too.")
    ] = False


@expand_options
def live(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Address: file:walk.c3d, lsl:NAME, qtm:HOST, ws:PORT or udp:PORT.",
        ),
    ],
    person: PersonOptions,
    filter_: FilterOptions,
    play: PlayOptions,
    send: SendOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Folder for markers and results."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Track a stream of markers: joint angles, torques, ground forces and effort per frame.

    Files are complete up to the last frame at any time. Ctrl-C ends the session and prints its
    summary. The exit code is 1 when no frame was tracked.

    Example: `homodyn live file:walk.c3d --model hdm -o out`
    """
    from homodyn.track.streams import LiveSession, SourceOptions, open_source

    chosen = open_source(source, SourceOptions(play.speed, play.loop, play.up))
    options = _live_options(person, filter_, play)
    model = find(person.model)
    outputs, markers = _outputs(send, output, overwrite=overwrite)
    outputs += _headset(send, model, output, to_stderr=as_json)
    session = LiveSession(
        model,
        chosen,
        options,
        outputs=outputs,
        markers=markers,
        on_sentence=lambda sentence: typer.echo(sentence, err=as_json),
    )
    with _interruption() as interrupted:
        session.start()
        while not session.wait(0.1) and not interrupted.is_set():
            _show_state(session)
        session.stop()
    _end_line()
    summary = session.summary()
    if not summary.tracked:
        reason = f"no frame was tracked: {session.log.newest}"
        if as_json:
            fail_with_json(summary.to_dict(), reason)
        typer.echo(f"Error: {reason}", err=True)
        raise typer.Exit(1)
    if as_json:
        print_json(summary.to_dict())
        return
    for line in summary_lines(summary):
        typer.echo(line)


def summary_lines(summary: LiveSummary) -> list[str]:
    """The summary of a session as lines of text.

    Args:
        summary: The summary.

    Returns:
        Lines: frames, delays, files.
    """
    lines = [summary.headline()]
    if summary.unreliable:
        lines.append(f"{summary.unreliable} results are marked as not reliable")
    lines.append(
        f"filter delay {summary.filter_delay_ms:g} ms by design, "
        "not part of the latency from arrival to result:"
    )
    for stage, delays in summary.latency.items():
        if delays.count:
            lines.append(f"  {stage:<10} {delays.headline()}")
    return lines + list(summary.files)


def _live_options(person: PersonOptions, filter_: FilterOptions, play: PlayOptions) -> LiveOptions:
    from homodyn.track.streams import LiveOptions

    return LiveOptions(
        calibration_s=person.calibration,
        mass=person.mass,
        height=person.height,
        filter_window_s=1e-3 * filter_.window,
        filter_delay_s=None if filter_.delay is None else 1e-3 * filter_.delay,
        max_waiting=filter_.waiting,
        patience_s=play.patience,
        duration_s=play.duration,
    )


def _outputs(
    send: SendOptions, folder: Path | None, *, overwrite: bool
) -> tuple[list[LiveOutput], MarkerFile | None]:
    """The outputs of the options, and the recording of the markers."""
    from homodyn.errors import FormatError
    from homodyn.track.streams.outputs import LslOutput, MarkerFile, ResultFiles, WebSocketOutput

    outputs: list[LiveOutput] = []
    markers = None
    if folder is not None:
        if folder.exists() and not folder.is_dir():
            raise FormatError("this is a file; a folder is expected", str(folder))
        if folder.is_dir() and any(folder.iterdir()) and not overwrite:
            raise FormatError(
                "the folder is not empty; choose another one, or --overwrite", str(folder)
            )
        folder.mkdir(parents=True, exist_ok=True)
        outputs.append(ResultFiles(folder, parquet=send.parquet))
        markers = MarkerFile(folder)
    if send.send_lsl is not None:
        outputs.append(LslOutput(send.send_lsl))
    if send.send_ws is not None:
        outputs.append(WebSocketOutput(send.send_ws))
    return outputs, markers


def _headset(
    send: SendOptions, model: Model, folder: Path | None, *, to_stderr: bool
) -> list[LiveOutput]:
    """The headset page, with its experiment."""
    from homodyn.errors import HomodynError

    if send.headset is None and send.experiment is None:
        return []
    from importlib.util import find_spec

    if find_spec("viser") is None:
        raise HomodynError(
            "the headset page needs viser, which is not installed: pip install 'homodyn[studio]'"
        )
    from homodyn.studio.headset import HeadsetServer
    from homodyn.track.experiments import ExperimentRun, check_experiment, read_experiment

    run = None
    if send.experiment is not None:
        experiment = read_experiment(send.experiment)
        check_experiment(experiment, model)
        run = ExperimentRun(experiment, None if folder is None else folder / "trials")
    server = HeadsetServer(send.headset or 0, run)
    typer.echo(f"The headset page is at {server.address}", err=to_stderr)
    return [server]


@contextmanager
def _interruption() -> Iterator[threading.Event]:
    """An event that Ctrl-C and a request to terminate set."""
    event = threading.Event()
    kinds = (signal.SIGINT, signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = {kind: signal.signal(kind, lambda *_: event.set()) for kind in kinds}
    try:
        yield event
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def _show_state(session: LiveSession) -> None:
    """One line on a terminal that shows the present state."""
    if not sys.stderr.isatty():
        return
    sample = session.sample
    text = session.state.value
    if sample is not None:
        text += (
            f"  {sample.time:8.2f} s  effort {sample.effort:6.0f} N m  power {sample.power:6.0f} W"
            f"  latency {1e3 * session.ledger.stages['total'].percentile(0.5):5.1f} ms"
        )
    sys.stderr.write(f"\r{text:<78}")
    sys.stderr.flush()


def _end_line() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\n")
