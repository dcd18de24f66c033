"""``homodyn cache``: inspect and clear the cache of compiled kernels."""

from __future__ import annotations

import typer

from homodyn.cli.json_output import print_json
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
        print_json({"folder": machine().cache, "files": files, "bytes": size})
        return
    typer.echo(f"{machine().cache}: {files} files, {file_size(size)}")


@app.command()
def clear(as_json: AsJson = False) -> None:
    """Remove all compiled kernels; they are compiled again when needed.

    Example: `homodyn cache clear`
    """
    from homodyn.symbolic import cache, machine

    files, size = cache.clear()
    if as_json:
        print_json({"folder": machine().cache, "removed_files": files, "removed_bytes": size})
        return
    typer.echo(f"Removed {files} files, {file_size(size)}")
