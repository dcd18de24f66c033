"""Contact forces of a force law in a step that is solved for the velocities at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from homodyn.dynamics.rnea import newton_euler
from homodyn.simulate.contact_wrenches import contact_wrenches
from homodyn.simulate.laws.contact_law import ContactForces, StepLaw, StepProblem, VelocityStep
from homodyn.simulate.laws.newton_step import MAX_ITERATIONS, RELATIVE_TOLERANCE, NewtonStep


@dataclass(frozen=True, eq=False)
class StartContact(StepLaw):
    """Given contact forces, and all rows at the end of the step."""

    contact: ContactForces
    """Forces at the start of the step."""
    name: str = "forces at the start of the step"
    residual_unit: ClassVar[str] = "kg m/s"
    takes_rows: ClassVar[bool] = True

    def step(self, problem: StepProblem) -> VelocityStep:
        """Velocities at the end of a step by Newton's method.

        Args:
            problem: State, loads and rows of the step.

        Returns:
            Velocities and forces at its end.
        """
        tree, rows = problem.tree, problem.rows
        bounded = [*(joint.step_row for joint in problem.joints), *rows.bounded]
        solver = NewtonStep(tree, rows.inertia, rows.bodies, [], [], bounded, problem.h, [])
        wrenches = contact_wrenches(tree, self.contact.gaps, self.contact.forces)
        load = problem.tau - newton_euler(tree, None, wrenches) + rows.load
        end = solver.solve(load, MAX_ITERATIONS, RELATIVE_TOLERANCE)
        forces, count = solver.row_forces(end.w), len(problem.joints)
        return VelocityStep(
            end.w,
            self.contact.gaps,
            self.contact.forces,
            forces[:count],
            problem.memory,
            end.residual,
            forces[count:],
            end.residual > end.tolerance,
        )
