"""``homodyn trial``: check recordings and synthesize trials with known truth."""

from __future__ import annotations

import typer

from homodyn.cli import trial_check, trial_synthesize

app = typer.Typer(
    no_args_is_help=True,
    help="Check recordings, and synthesize trials with known truth.\n\n"
    "Example: `homodyn trial check walk.c3d`",
)
app.command("check")(trial_check.check)
app.command("synthesize")(trial_synthesize.synthesize)
