"""``python -m homodyn``: the command line where the script is not on the path."""

from homodyn.cli import app

app(prog_name="homodyn")
