"""Coupled dynamical systems in a language of nodes and edges, run in native code."""

from homodyn.network.body_nodes import add_body
from homodyn.network.incremental_run import FormulaDerivatives, IncrementalRun
from homodyn.network.integrators import METHODS
from homodyn.network.loading import load, parse
from homodyn.network.network import Network
from homodyn.network.result import NetworkResult, StateTransition, SweepResult
from homodyn.network.tree import Edge, Equation, NetworkEvent, NetworkFunction, Node, Variable

__all__ = [
    "METHODS",
    "Edge",
    "Equation",
    "FormulaDerivatives",
    "IncrementalRun",
    "Network",
    "NetworkEvent",
    "NetworkFunction",
    "NetworkResult",
    "Node",
    "StateTransition",
    "SweepResult",
    "Variable",
    "add_body",
    "load",
    "parse",
]
