"""A network as a controller: its states advance with the simulation, its inputs are signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import casadi as ca

from homodyn.errors import ModelError
from homodyn.foundation import Record, record, unknown_name
from homodyn.network import Network
from homodyn.simulate.signals.signal import Quantity, Signal, SignalInput, StepSample
from homodyn.spatial import Array


@record
class NetworkSignal(Record, Signal):
    """Variables of a network of the network language, such as a central pattern generator.

    The states advance by explicit Euler steps of the simulation. Parameters of the network can be
    given as numbers, names of batch parameters or earlier signals, or functions of the state, so a
    network can receive feedback.

    Raises:
        ModelError: The network has events, delays, discrete variables or random numbers, or lacks a
            variable.
    """

    network: Network
    outputs: Sequence[str]
    """Dotted names of the variables that the signal returns, in one column."""
    inputs: Mapping[str, Quantity] = field(default_factory=dict)
    """Values of parameters by dotted name; those of the network for others."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "outputs", tuple(self.outputs))
        system = self.network.system
        parameters = [v.path for v in system.numbers if system.slot(v)[1] == (1, 1)]
        for name in self.outputs:
            if name not in system.variables:
                raise ModelError(unknown_name("variable of the network", name, system.variables))
        for name in self.inputs:
            if name not in parameters:
                raise ModelError(unknown_name("parameter of the network", name, parameters))
        for what, found in (
            ("events", bool(system.events[0])),
            ("discrete variables", bool(system.discrete)),
            ("delays", bool(system.delays)),
            ("random numbers", system.length("u") > 0),
        ):
            if found:
                raise ModelError(f"a network with {what} cannot be a signal of a simulation")

    def _evaluate(self, formula: ca.SX, at: SignalInput, memory: Array | None) -> Array:
        """A formula of the network with the inputs and states of the simulation."""
        system = self.network.system
        parameters = ca.SX(self.network.values()[: system.length("p")])
        for variable in system.numbers:
            given = self.inputs.get(variable.path)
            if given is not None:
                name = f"input {variable.path!r} of the network"
                parameters[system.slot(variable)[0]] = at.scalar(given, name)
        symbols, values = [system.t], [ca.SX(at.t)]
        for table, column in (("p", parameters), ("x", memory)):
            if column is not None and system.length(table):
                symbols.append(system.symbols(table))
                values.append(column)
        replaced = ca.substitute([formula], [ca.vertcat(*symbols)], [ca.vertcat(*values)])
        return ca.densify(replaced[0])

    def initial_memory(self, at: SignalInput) -> Array:
        """The initial states of the network.

        Args:
            at: Initial state and batch parameters.

        Returns:
            A column.
        """
        system = self.network.system
        if not system.states:
            return ca.SX(0, 1)
        return self._evaluate(system.starts(system.states), at, None)

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The outputs.

        Args:
            at: State at the start of the step.
            memory: States of the network.

        Returns:
            A column.
        """
        system = self.network.system
        values = [ca.vec(system.value(system.variables[name])) for name in self.outputs]
        return self._evaluate(ca.vertcat(*values), at, memory)

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """The states a step later.

        Args:
            step: The step.
            memory: States of the network.

        Returns:
            A column.
        """
        if not self.network.system.states:
            return memory
        return memory + step.h * self._evaluate(self.network.system.rates, step, memory)
