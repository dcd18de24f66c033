"""The ``homodyn`` command: its subcommands, its version, and how errors are shown."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from homodyn import __version__
from homodyn.cli import (
    analyze,
    balance,
    bench,
    cache,
    demo,
    info,
    models,
    network,
    reconstruct,
    search,
    simulate,
    studio,
    synthesize,
    trials,
)
from homodyn.errors import HomodynError, NetworkError


class Commands(TyperGroup):
    """The commands; a ``HomodynError`` from any of them is one red line and exit code 1."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        _hide_flag_types(self)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; ``--debug`` shows the traceback of errors."""
        try:
            return super().invoke(ctx)
        except HomodynError as error:
            if ctx.params.get("debug"):
                raise
            message = " ".join(str(error).split()) or type(error).__name__
            if isinstance(error, NetworkError):
                # Its further lines point at a place in the text; they must not be joined.
                message = str(error)
            Console(stderr=True).print(Text(f"Error: {message}", style="red"), soft_wrap=True)
            raise typer.Exit(1) from None


def _hide_flag_types(command: Any) -> None:
    """Show no type beside flags in help texts, here and in all subcommands."""
    for parameter in command.params:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    for child in getattr(command, "commands", {}).values():
        _hide_flag_types(child)


app = typer.Typer(
    name="homodyn",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"homodyn {__version__}")
        raise typer.Exit


@app.callback()
def homodyn(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-v", callback=_print_version, is_eager=True, help="Show the version."
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of errors.")] = False,
) -> None:
    """Human movement: motion capture, dynamics, simulation and optimal control.

    Example: `homodyn info`
    """


app.command()(info.info)
app.command()(demo.demo)
app.command()(analyze.analyze)
app.command()(balance.balance)
app.command()(bench.bench)
app.command()(reconstruct.reconstruct)
app.command()(simulate.simulate)
app.command()(studio.studio)
app.command()(synthesize.synthesize)
app.add_typer(cache.app, name="cache")
app.add_typer(models.app, name="model")
app.add_typer(trials.app, name="trial")
app.add_typer(search.app, name="search")
app.add_typer(network.app, name="network")
