"""The mixed complementarity problem of one step of implicit springs, in numbers.

The equations are those that the step traces, without its solver: contacts and rows with bounds
are left to a solver of the tests, and rows without bounds are part of the inertia.
"""

from unittest import mock

import casadi as ca
import numpy as np

from homodyn.simulate.laws.newton_step import NewtonStep
from homodyn.simulate.motion_system import MotionState
from homodyn.simulate.signals import SignalInput
from homodyn.simulate.solvers import ConeProblem
from homodyn.simulate.state_update import StepInput, advance


class TracedEquations(Exception):
    """The equations of a step and its free forces: tracing ends where they would be solved."""


class StepEquations:
    """H, load and rows of the steps of a simulation as a function of its state."""

    def __init__(self, simulation):
        setup = simulation._setup
        self.simulation = simulation
        sizes = setup.sizes()
        given = {
            name: ca.SX.sym(name, *((size,) if isinstance(size, int) else size or (1,)))
            for name, size in sizes.items()
        }
        numbers = {name: given["batch"][k] for k, name in enumerate(setup.batch_names)}
        x = MotionState(given["q"], given["v"], given["z"], given["work"])
        start = SignalInput(setup.model, given["t"], given["dt"], x.q, x.v, numbers)
        batch = setup.step_memory.values(start, given["memory"])
        targets = given.get("targets", ca.SX(0, 1))

        def stop(self, free, maximum, tolerance):
            raise TracedEquations(self, free)

        try:
            with mock.patch.object(NewtonStep, "solve", stop):
                inputs = StepInput(given["t"], given["torque"], batch, targets)
                advance(setup, x, given["dt"], inputs)
        except TracedEquations as traced:
            equations, free = traced.args
        n = setup.model.nv
        rows, constants = [], []

        def add(entries, row, shift=0.0):
            line = ca.SX.zeros(1, n)
            for k, value in entries.items():
                line[k] = value
            rows.append(line)
            constants.append(ca.vertcat(row.slope, row.offset, row.lower, row.upper, shift))

        self.contacts = len(equations.contacts)
        friction = []
        for k, (*three, mu) in enumerate(equations.contacts):
            friction.append(mu)
            for i, row in enumerate(three):
                add(equations.entries[3 * k + i], row, equations.surface[3 * k + i])
        for step_row in equations.rows:
            add(step_row.entries, step_row.row)
        self._names = list(sizes)
        self._evaluate = ca.Function(
            "equations",
            [given[name] for name in sizes],
            [
                equations.H,
                given["dt"] * free,
                ca.vertcat(ca.SX(0, n), *rows),
                ca.horzcat(ca.SX(5, 0), *constants).T,
                ca.vertcat(ca.SX(0, 1), *friction),
            ],
        )

    def at(self, targets=None):
        """Inertia, impulse, Jacobian and constants at the present state of the simulation."""
        arrays = dict(self.simulation.save())
        if targets is not None:
            arrays["targets"] = np.asarray(targets)
        values = [np.asarray(arrays[name]).reshape(-1) for name in self._names]
        return [np.array(x) for x in self._evaluate(*values)]

    def problem(self, targets=None):
        """The problem for the impulses of the rows, and the velocities by impulses."""
        H, impulse, J, constants, friction = self.at(targets)
        h = float(self.simulation.save()["dt"].reshape(-1)[0])
        v = np.asarray(self.simulation.v)
        slope, offset, lower, upper, surface = constants.T
        inverse = np.linalg.inv(H)
        free = v + inverse @ impulse.ravel()
        A = J @ inverse @ J.T + np.diag(1 / (h * slope))
        b = J @ free - surface + offset / slope
        cones = tuple((3 * k, 3 * k + 1, 3 * k + 2) for k in range(self.contacts))
        problem = ConeProblem(A, b, cones, friction.ravel(), h * lower, h * upper)
        return problem, lambda force: free + inverse @ (J.T @ force)
