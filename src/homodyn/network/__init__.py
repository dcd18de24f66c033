"""Coupled dynamical systems in a language of nodes and edges, run in native code."""

from homodyn.network.bridge import body
from homodyn.network.integrators import METHODS
from homodyn.network.live import Derivatives, Live
from homodyn.network.network import Network, load, parse
from homodyn.network.record import Happened, Record, Sweep
from homodyn.network.tree import Edge, Event, Function, Node, Projection, Variable

__all__ = [
    "METHODS",
    "Derivatives",
    "Edge",
    "Event",
    "Function",
    "Happened",
    "Live",
    "Network",
    "Node",
    "Projection",
    "Record",
    "Sweep",
    "Variable",
    "body",
    "load",
    "parse",
]
