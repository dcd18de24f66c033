"""``homodyn network``: run, monitor, draw, query, test and compile networks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from homodyn.cli.option_groups import AsJson

app = typer.Typer(
    no_args_is_help=True,
    help="Run, draw and test networks of coupled systems.\n\n"
    "Example: `homodyn network run slip.cdn --until 7`",
)

File = Annotated[Path, typer.Argument(help="A network text, .cdn.")]


@app.command()
def run(
    file: File,
    until: Annotated[float, typer.Option(help="End of the run (s).")] = 1.0,
    step: Annotated[float | None, typer.Option(help="Time step (s).")] = None,
    show: Annotated[list[str] | None, typer.Option(help="Variable to print; repeatable.")] = None,
    rows: Annotated[int, typer.Option(help="Maximum number of printed rows.")] = 11,
    seed: Annotated[int, typer.Option(help="Seed of rand.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="CSV", help="Write all rows to this file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a network and print its states, or the variables of --show.

    Example: `homodyn network run slip.cdn --until 7 --show slip.x --show slip.steps`
    """
    import numpy as np

    from homodyn import network
    from homodyn.foundation import atomic_file

    net = network.load(file)
    record = net.run(until, step, seed=seed)
    names = show or [variable.path for variable in net.system.states] or list(net.names)
    columns = {"t": record.t}
    for name in names:
        values = record[name]
        if values.ndim == 1:
            columns[name] = values
        else:
            flat = values.reshape(len(values), -1)
            columns.update({f"{name}[{k}]": flat[:, k] for k in range(flat.shape[1])})
    table = np.stack(list(columns.values()), axis=1)
    if output is not None:
        with atomic_file(output) as temporary:
            np.savetxt(temporary, table, delimiter=",", header=",".join(columns), comments="")
    picked = np.unique(np.linspace(0, len(table) - 1, max(2, rows)).round().astype(int))
    if as_json:
        rows_shown = {name: table[picked, k].tolist() for k, name in enumerate(columns)}
        typer.echo(json.dumps({"rows": rows_shown, "events": len(record.events)}, indent=2))
        return
    widths = [max(12, len(name)) for name in columns]
    typer.echo("  ".join(name.rjust(width) for name, width in zip(columns, widths, strict=True)))
    for row in table[picked]:
        typer.echo("  ".join(f"{one:{width}.6g}" for one, width in zip(row, widths, strict=True)))
    if record.events:
        typer.echo(f"{len(record.events)} events, the last at {record.events[-1].time:.6g} s")


@app.command()
def monitor(
    file: File,
    show: Annotated[
        list[str] | None,
        typer.Option(help="Variables to monitor, repeatable: a name, or a pattern such as n*.y."),
    ] = None,
    until: Annotated[float, typer.Option(help="End of the run (s).")] = 1.0,
    step: Annotated[float | None, typer.Option(help="Time step (s).")] = None,
    every: Annotated[float, typer.Option(help="Time between printed rows (s).")] = 0.1,
    seed: Annotated[int, typer.Option(help="Seed of rand.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Plot the variables into this PNG instead of printing.")
    ] = None,
) -> None:
    """Monitor variables of a run: print them row by row, or plot them.

    Example: `homodyn network monitor slip.cdn --show slip.y --until 7 --plot slip.png`
    """
    import numpy as np

    from homodyn import network
    from homodyn.errors import NetworkError
    from homodyn.network.repl import match_variables

    net = network.load(file)
    names = match_variables(net, show or [variable.path for variable in net.system.states])
    if plot is not None:
        from homodyn.report.model_drawing import save_figure
        from homodyn.report.network_figures import variable_curves

        record = net.run(until, step, seed=seed)
        save_figure(variable_curves(record, names, file.name), plot)
        typer.echo(f"Wrote {plot}")
        return
    if not every > 0:
        raise NetworkError(f"rows every {every} s; above 0 is needed")
    live = net.start(step, seed=seed)
    values = {name: np.ravel(live[name]) for name in names}
    heads = ["t"]
    for name, value in values.items():
        heads += [name] if value.size == 1 else [f"{name}[{k}]" for k in range(value.size)]
    widths = [max(12, len(head)) for head in heads]
    typer.echo("  ".join(head.rjust(width) for head, width in zip(heads, widths, strict=True)))
    while True:
        row = [live.t, *np.concatenate([np.ravel(live[name]) for name in names])]
        typer.echo("  ".join(f"{one:{width}.6g}" for one, width in zip(row, widths, strict=True)))
        if live.ended or live.t >= until - 1e-9:
            break
        live.advance(min(every, until - live.t))
    if live.ended:
        typer.echo(f"An event ended the run at {live.t:.6g} s")


@app.command()
def repl(
    file: File,
    step: Annotated[float | None, typer.Option(help="Time step (s).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of rand.")] = 0,
) -> None:
    """Query a network interactively: evaluate formulas, set parameters, advance time.

    Lines may also come from a file or a pipe; the first error then ends the session.

    Example: `homodyn network repl slip.cdn`, then `slip.leg`, `run 0.3`, `slip.k = 25000`
    """
    from homodyn import network
    from homodyn.errors import NetworkError
    from homodyn.network.repl import HELP, ReplSession

    talk = ReplSession(network.load(file), step, seed)
    typed = sys.stdin.isatty()
    if typed:
        typer.echo(HELP)
    while not talk.finished:
        try:
            line = input(talk.prompt) if typed else sys.stdin.readline()
        except (EOFError, KeyboardInterrupt):
            typer.echo("")
            return
        if not typed:
            if not line:
                return
            if line.strip():
                typer.echo(f"{talk.prompt}{line.strip()}")
        try:
            said = talk.execute(line)
        except NetworkError as error:
            if not typed:
                raise
            said = f"Error: {error}"
        if said:
            typer.echo(said)


@app.command()
def graph(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write this .dot or .svg file."),
    ] = None,
) -> None:
    """Draw the nodes and edges as Graphviz text or as an SVG figure.

    Example: `homodyn network graph chain.cdn -o chain.svg`
    """
    from homodyn import network
    from homodyn.errors import NetworkError
    from homodyn.foundation import write_text

    net = network.load(file)
    if output is None:
        typer.echo(net.graph("dot"), nl=False)
        return
    if output.suffix not in (".dot", ".svg"):
        raise NetworkError(f"{output}: graphs are written as .dot or .svg")
    write_text(output, net.graph("svg" if output.suffix == ".svg" else "dot"))
    typer.echo(f"Wrote {output}")


@app.command()
def test(file: File, as_json: AsJson = False) -> None:  # noqa: PT028
    """Run a network and compare it with the expectations written in its text.

    Example: `homodyn network test slip.cdn`
    """
    from homodyn import network

    net = network.load(file).prepare()
    failed = 0
    found = net.check()
    if not found:
        typer.echo(f'{file} has no expectations; they are written as expect "slip.steps" = 24 at 7')
        return
    if as_json:
        rows = [
            {
                "variable": expected.path,
                "time_s": expected.time,
                "value": float(value),
                "expected": expected.value,
                "tolerance": expected.tolerance,
                "passed": bool(abs(value - expected.value) <= expected.tolerance),
            }
            for expected, value in found
        ]
        typer.echo(json.dumps(rows, indent=2))
        raise typer.Exit(int(not all(row["passed"] for row in rows)))
    for expected, value in found:
        good = abs(value - expected.value) <= expected.tolerance
        failed += not good
        typer.echo(
            f"{'ok  ' if good else 'FAIL'} {expected.path} at {expected.time:g} s: {value:.9g}, "
            f"expected {expected.value:.9g} within {expected.tolerance:g}"
        )
    typer.echo(f"{len(found) - failed} of {len(found)} expectations met")
    if failed:
        raise typer.Exit(1)


@app.command("compile")
def compile_network(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="C file to write; its header goes beside it."
        ),
    ] = None,
) -> None:
    """Check a network, and optionally write it as C without dependencies.

    Example: `homodyn network compile slip.cdn -o slip.c`
    """
    from homodyn import network

    net = network.load(file).prepare()
    if output is not None:
        source, header = net.to_c(output)
        typer.echo(f"Wrote {source} and {header}")
        return
    kinds = list(net.system.kinds.values())
    told = [f"{kinds.count('state')} states", f"{kinds.count('parameter')} parameters"]
    told += [
        f"{len(net.system.events[0])} events",
        f"{net.attempt.instructions} operations a step",
    ]
    typer.echo(f"{file}: {', '.join(told)}; no faults found")
