"""``homodyn cache``: look at and empty the folder of compiled kernels."""

from __future__ import annotations

import typer

from homodyn.cli.units import file_size

app = typer.Typer(
    no_args_is_help=True,
    help="Look at or empty the folder of compiled kernels.\n\nExample: `homodyn cache show`",
)


@app.command()
def show() -> None:
    """Show where compiled kernels are kept and how much room they take.

    Example: `homodyn cache show`
    """
    from homodyn.symbolic import cache, machine

    files, size = cache.usage()
    typer.echo(f"{machine().cache}: {files} files, {file_size(size)}")


@app.command()
def clear() -> None:
    """Remove all compiled kernels; they are compiled anew when next needed.

    Example: `homodyn cache clear`
    """
    from homodyn.symbolic import cache

    files, size = cache.clear()
    typer.echo(f"Removed {files} files, {file_size(size)}")
