"""The command line: each command parses, calls one function of the library and prints."""

from homodyn.cli.app import app

__all__ = ["app"]
