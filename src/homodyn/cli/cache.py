"""``homodyn cache``: inspect and clear the cache of compiled kernels."""

from __future__ import annotations

import json

import typer

from homodyn.cli.option_groups import AsJson
from homodyn.cli.units import file_size

app = typer.Typer(
    no_args_is_help=True,
    help="Inspect or clear the cache of compiled kernels.\n\nExample: `homodyn cache show`",
)


@app.command()
def show(as_json: AsJson = False) -> None:
    """Show the folder and the size of the kernel cache.

    Example: `homodyn cache show`
    """
    from homodyn.symbolic import cache, machine

    files, size = cache.usage()
    if as_json:
        folder = str(machine().cache)
        typer.echo(json.dumps({"folder": folder, "files": files, "bytes": size}, indent=2))
        return
    typer.echo(f"{machine().cache}: {files} files, {file_size(size)}")


@app.command()
def clear() -> None:
    """Remove all compiled kernels; they are compiled again when needed.

    Example: `homodyn cache clear`
    """
    from homodyn.symbolic import cache

    files, size = cache.clear()
    typer.echo(f"Removed {files} files, {file_size(size)}")
