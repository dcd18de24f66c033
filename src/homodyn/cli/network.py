"""``homodyn network``: run, monitor, draw, query, test and compile networks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import AsJson

if TYPE_CHECKING:
    from homodyn.network.repl import ReplSession

app = typer.Typer(
    no_args_is_help=True,
    help="Run, draw and test networks of coupled systems.\n\n"
    "Example: `homodyn network run slip.cdn --until 7`",
)

MIN_COLUMN_WIDTH = 12
"""Width of a printed column (characters)."""

File = Annotated[Path, typer.Argument(metavar="FILE", help="A network file (.cdn).")]
Until = Annotated[float, typer.Option(metavar="S", help="End time of the run (s).")]
TimeStep = Annotated[
    float | None,
    typer.Option(metavar="S", help="Time step (s); that of the network by default."),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the random numbers of rand.")]


@app.command()
def run(
    file: File,
    until: Until = 1.0,
    step: TimeStep = None,
    show: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Variable to print; repeatable.")
    ] = None,
    rows: Annotated[int, typer.Option(metavar="N", help="Maximum number of printed rows.")] = 11,
    seed: Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="CSV", help="Write all rows to this file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a network and print its states, or the variables given by --show.

    Example: `homodyn network run slip.cdn --until 7 --show slip.x --show slip.steps`
    """
    import numpy as np

    from homodyn import network
    from homodyn.foundation import atomic_file, count_of
    from homodyn.network.result import scalar_columns

    net = network.load(file)
    result = net.run(until, step, seed=seed)
    names = show or [variable.path for variable in net.system.states] or list(net.names)
    columns = {"t": result.t}
    for name in names:
        columns.update(scalar_columns(name, result[name]))
    table = np.stack(list(columns.values()), axis=1)
    if output is not None:
        with atomic_file(output) as temporary:
            np.savetxt(temporary, table, delimiter=",", header=",".join(columns), comments="")
    picked = np.unique(np.linspace(0, len(table) - 1, max(2, rows)).round().astype(int))
    if as_json:
        printed = {name: table[picked, k].tolist() for k, name in enumerate(columns)}
        print_json({"rows": printed, "events": len(result.events), "file": output})
        return
    _print_row(columns, columns)
    for row in table[picked]:
        _print_row(columns, row)
    if result.events:
        last = result.events[-1].time
        typer.echo(f"{count_of(len(result.events), 'event')}, the last at {last:.6g} s")


def _print_row(names: Iterable[str], cells: Iterable[Any]) -> None:
    """One line of a table with right-aligned columns."""
    widths = [max(MIN_COLUMN_WIDTH, len(name)) for name in names]
    texts = [cell if isinstance(cell, str) else f"{cell:.6g}" for cell in cells]
    typer.echo("  ".join(text.rjust(width) for text, width in zip(texts, widths, strict=True)))


@app.command()
def monitor(
    file: File,
    show: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Variable to monitor: a name, or a pattern such as n*.y; repeatable.",
        ),
    ] = None,
    until: Until = 1.0,
    step: TimeStep = None,
    every: Annotated[float, typer.Option(metavar="S", help="Time between printed rows (s).")] = 0.1,
    seed: Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Plot the variables into this .png, .svg or .pdf file instead of printing them.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Monitor variables during a run: print them row by row, or plot them.

    Example: `homodyn network monitor slip.cdn --show slip.y --until 7 -o slip.png`
    """
    from homodyn import network
    from homodyn.errors import NetworkError
    from homodyn.network.repl import match_variables

    net = network.load(file)
    names = match_variables(net, show or [variable.path for variable in net.system.states])
    if output is not None:
        from homodyn.report.model_drawing import save_figure
        from homodyn.report.network_figures import variable_curves

        result = net.run(until, step, seed=seed)
        save_figure(variable_curves(result, names, file.name), output)
        if as_json:
            print_json({"file": output, "variables": names, "end_time_s": float(result.t[-1])})
            return
        typer.echo(f"Wrote {output}")
        return
    if not every > 0:
        raise NetworkError(f"--every is {every} s; expected more than 0 s")
    live = net.start(step, seed=seed)
    columns = _scalar_names(names, live)
    rows: list[list[float]] = []
    _print_row(columns, columns)
    while True:
        rows.append(_scalars(names, live))
        _print_row(columns, rows[-1])
        if live.ended or live.t >= until - 1e-9:
            break
        live.advance(min(every, until - live.t))
    if live.ended:
        typer.echo(f"An event ended the run at {live.t:.6g} s")
    if as_json:
        values = {name: [row[k] for row in rows] for k, name in enumerate(columns)}
        print_json({"rows": values, "ended_by_event": live.ended})


def _scalar_names(names: Sequence[str], values: Any) -> list[str]:
    """Column names of current values; entries of vectors and matrices are numbered."""
    import numpy as np

    columns = ["t"]
    for name in names:
        size = np.size(values[name])
        columns += [name] if size == 1 else [f"{name}[{k}]" for k in range(size)]
    return columns


def _scalars(names: Sequence[str], live: Any) -> list[float]:
    import numpy as np

    return [live.t, *(float(x) for name in names for x in np.ravel(live[name]))]


@app.command()
def repl(file: File, step: TimeStep = None, seed: Seed = 0, as_json: AsJson = False) -> None:
    """Query a network interactively: evaluate formulas, set parameters, advance time.

    Lines may also come from a file or a pipe; the first error then ends the session.

    Example: `homodyn network repl slip.cdn`, then `slip.leg`, `run 0.3`, `slip.k = 25000`
    """
    from homodyn import network
    from homodyn.network.repl import ReplSession

    session = ReplSession(network.load(file), step, seed)
    if sys.stdin.isatty():
        _converse(session)
        return
    answers = []
    for line in sys.stdin:
        if not line.strip():
            continue
        typer.echo(f"{session.prompt}{line.strip()}")
        answer = session.execute(line)
        answers.append({"input": line.strip(), "output": answer, "time_s": session.run.t})
        if answer:
            typer.echo(answer)
        if session.finished:
            break
    if as_json:
        print_json({"answers": answers})


def _converse(session: ReplSession) -> None:
    """Read lines from a terminal until the session ends; errors do not end it."""
    from homodyn.errors import NetworkError
    from homodyn.network.repl import HELP

    typer.echo(HELP)
    while not session.finished:
        try:
            line = input(session.prompt)
        except (EOFError, KeyboardInterrupt):
            typer.echo("")
            return
        try:
            answer = session.execute(line)
        except NetworkError as error:
            answer = f"Error: {error}"
        if answer:
            typer.echo(answer)


@app.command()
def graph(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write this .dot or .svg file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw nodes and edges as Graphviz text or as an SVG figure.

    Example: `homodyn network graph chain.cdn -o chain.svg`
    """
    from homodyn import network
    from homodyn.errors import NetworkError
    from homodyn.foundation import write_text

    net = network.load(file)
    if output is None:
        if as_json:
            print_json({"dot": net.graph("dot")})
        else:
            typer.echo(net.graph("dot"), nl=False)
        return
    if output.suffix not in (".dot", ".svg"):
        raise NetworkError(f"{output}: graphs are written as .dot or .svg")
    write_text(output, net.graph("svg" if output.suffix == ".svg" else "dot"))
    if as_json:
        print_json({"file": output})
        return
    typer.echo(f"Wrote {output}")


@app.command()
def test(file: File, as_json: AsJson = False) -> None:  # noqa: PT028
    """Run a network and compare it with the expectations in its file.

    The exit code is 1 when an expectation is not met.

    Example: `homodyn network test slip.cdn`
    """
    from homodyn import network

    net = network.load(file).prepare()
    rows = [
        {
            "variable": expected.path,
            "time_s": expected.time,
            "value": float(value),
            "expected": expected.value,
            "tolerance": expected.tolerance,
            "passed": bool(abs(value - expected.value) <= expected.tolerance),
        }
        for expected, value in net.check()
    ]
    failed = sum(not row["passed"] for row in rows)
    message = f"{len(rows) - failed} of {len(rows)} expectations met"
    if as_json:
        if failed:
            fail_with_json({"expectations": rows}, message)
        print_json({"expectations": rows})
        return
    if not rows:
        typer.echo(f'{file} has no expectations; write them as expect "slip.steps" = 24 at 7')
        return
    for row in rows:
        typer.echo(
            f"{'ok  ' if row['passed'] else 'FAIL'} {row['variable']} at {row['time_s']:g} s: "
            f"{row['value']:.9g}, expected {row['expected']:.9g} within {row['tolerance']:g}"
        )
    typer.echo(message)
    if failed:
        raise typer.Exit(1)


@app.command("compile")
def compile_network(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="C file to write; its header is written to the same folder.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a network, and optionally write it as C without dependencies.

    Example: `homodyn network compile slip.cdn -o slip.c`
    """
    from homodyn import network

    net = network.load(file).prepare()
    kinds = list(net.system.kinds.values())
    counts = {
        "states": kinds.count("state"),
        "parameters": kinds.count("parameter"),
        "events": len(net.system.events[0]),
        "operations per step": net.attempt.instructions,
    }
    files = net.to_c(output) if output is not None else ()
    if as_json:
        print_json({**{key.replace(" ", "_"): n for key, n in counts.items()}, "files": files})
    elif files:
        typer.echo(f"Wrote {files[0]} and {files[1]}")
    else:
        listed = ", ".join(f"{count} {name}" for name, count in counts.items())
        typer.echo(f"{file}: {listed}; no errors found")
