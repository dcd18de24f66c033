"""The ``homodyn`` command: its subcommands, its version, and how errors are shown."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Protocol, runtime_checkable

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
    codesign,
    control,
    demo,
    ergonomics,
    explain,
    gait,
    info,
    live,
    models,
    network,
    plan,
    reconstruct,
    search,
    simulate,
    stimulate,
    studio,
    study,
    synthesize,
    track,
    trials,
    validate,
)
from homodyn.cli.json_output import is_json_requested, json_stdout, print_json, wants_json
from homodyn.errors import HomodynError, NetworkError

HELP_OPTIONS = ["-h", "--help"]
INTERRUPT_EXIT_CODE = 130
"""Exit code of a command that Ctrl-C ended."""
HELP_PANELS = {
    "Start here": ("demo", "studio"),
    "Recordings": (
        "analyze",
        "track",
        "study",
        "live",
        "reconstruct",
        "explain",
        "trial",
        "validate",
    ),
    "Models and motions": (
        "model",
        "simulate",
        "stimulate",
        "control",
        "synthesize",
        "balance",
        "plan",
        "ergonomics",
    ),
    "Networks and search": ("network", "search", "gait", "codesign"),
    "This machine": ("info", "cache", "bench"),
}
"""Commands by heading of the help text, in order."""


@runtime_checkable
class CommandLineError(Protocol):
    """An error in the words of a command line, as Typer raises it."""

    exit_code: int

    def format_message(self) -> str:
        """One sentence."""


class Commands(TyperGroup):
    """All commands.

    A ``HomodynError`` of any command is one red line on stderr and exit code 1. With ``--json``,
    every failure is a JSON object too; see `homodyn.cli.json_output`.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        for child in self.commands.values():
            _hide_types_below(child)

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands in the order of the help text."""
        return [name for names in HELP_PANELS.values() for name in names]

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of ``homodyn`` itself; Typer adds some after the class is initialized."""
        parameters = super().get_params(ctx)
        _hide_types(parameters)
        return list(parameters)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **named: Any) -> Any:
        """Run the command line."""
        try:
            return self._run(args, *rest, **named)
        except OSError as error:
            # Errors of commands are handled in `invoke`; these are of help texts and of JSON.
            if isinstance(error, BrokenPipeError):
                raise
            _report_os_error(error)
            sys.exit(1)

    def _run(self, args: Sequence[str] | None = None, *rest: Any, **named: Any) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        if not wants_json(words):
            return super().main(args, *rest, **named)
        named["standalone_mode"] = False
        with json_stdout():
            code = self._exit_code(words, *rest, **named)
            if code:
                # Nothing is printed where the command has printed its own object.
                reason = (
                    "interrupted"
                    if code == INTERRUPT_EXIT_CODE
                    else f"failed with exit code {code}"
                )
                # A device that takes no output has its sentence on stderr by now.
                with contextlib.suppress(OSError):
                    print_json({"error": reason})
        sys.exit(code)

    def _exit_code(self, words: list[str], *rest: Any, **named: Any) -> int:
        """Run a command line that asks for JSON; a failure prints the object of an error."""
        try:
            return super().main(words, *rest, **named) or 0
        except typer.Abort:
            print_json({"error": "interrupted"})
            return 1
        except Exception as error:
            if isinstance(error, CommandLineError):
                message = " ".join(error.format_message().split())
                _show_error(message)
                print_json({"error": message})
                return error.exit_code
            known = isinstance(error, HomodynError)
            message = str(error) if known else f"internal error: {type(error).__name__}: {error}"
            print_json({"error": message})
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command; ``--debug`` shows the traceback of errors."""
        try:
            return super().invoke(ctx)
        except HomodynError as error:
            if ctx.params.get("debug"):
                raise
            message = " ".join(str(error).split()) or type(error).__name__
            # Further lines of a network error point at a column; they must not be joined.
            _show_error(str(error) if isinstance(error, NetworkError) else message)
            if is_json_requested():
                print_json({"error": message})
            raise typer.Exit(1) from None
        except OSError as error:
            if ctx.params.get("debug") or isinstance(error, BrokenPipeError):
                raise
            _report_os_error(error)
            raise typer.Exit(1) from None


def _report_os_error(error: OSError) -> None:
    _show_error(_describe_os_error(error))
    _drop_unwritten_output()


def _describe_os_error(error: OSError) -> str:
    """A sentence for a failure of the system, such as a full disk behind the standard output."""
    where = error.filename if isinstance(error.filename, str) else "the output"
    return f"{where}: {error.strerror or error}"


def _drop_unwritten_output() -> None:
    """Close a standard output that takes nothing, or Python reports it once more at its end."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_error(message: str) -> None:
    Console(stderr=True).print(Text(f"Error: {message}", style="red"), soft_wrap=True)


def _hide_types_below(command: Any) -> None:
    """Hide the types of flags and arguments in the help texts of a command and its subcommands."""
    _hide_types(command.get_params(typer.Context(command, help_option_names=HELP_OPTIONS)))
    for child in getattr(command, "commands", {}).values():
        _hide_types_below(child)


def _hide_types(parameters: Sequence[Any]) -> None:
    """Show no type beside flags, nor beside arguments, whose names already say what they are."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        elif parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None


app = typer.Typer(
    name="homodyn",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": HELP_OPTIONS},
)


def _print_version(requested: bool) -> None:
    if requested:
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


COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.demo,
    "studio": studio.studio,
    "analyze": analyze.analyze,
    "track": track.track,
    "live": live.live,
    "reconstruct": reconstruct.reconstruct,
    "explain": explain.explain,
    "validate": validate.validate,
    "simulate": simulate.simulate,
    "stimulate": stimulate.stimulate,
    "control": control.control,
    "synthesize": synthesize.synthesize,
    "balance": balance.balance,
    "plan": plan.plan,
    "ergonomics": ergonomics.ergonomics,
    "info": info.info,
    "bench": bench.bench,
}
GROUPS = {
    "trial": trials.app,
    "study": study.app,
    "model": models.app,
    "network": network.app,
    "search": search.app,
    "gait": gait.app,
    "codesign": codesign.app,
    "cache": cache.app,
}
for _panel, _names in HELP_PANELS.items():
    for _name in _names:
        if _name in COMMANDS:
            app.command(_name, rich_help_panel=_panel)(COMMANDS[_name])
        else:
            app.add_typer(GROUPS[_name], name=_name, rich_help_panel=_panel)
