"""Rows of users in the equations of a step.

Rows without bounds become part of the inertia and the load of the step, as closed loops do. Equal
springs along x, y and z at a point weigh on the model like a particle of mass h s at that point, so
any number of them costs as little as the bodies that they hang on. Rows with bounds are left to the
solver of the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.dynamics.crba import composite_inertia, composite_matrix
from homodyn.dynamics.tree import Tree
from homodyn.simulate.rows.loop_rows import LoopRow, add_loop_inertia, loop_load, row_product
from homodyn.simulate.rows.step_rows import StepRow
from homodyn.simulate.rows.targets import IsotropicSpring, TargetRow, point_velocity
from homodyn.spatial import Array, Inertia, cross, stack


@dataclass(frozen=True, eq=False)
class StepRows:
    """All rows of a step besides contacts and coordinates: loops, and rows of users."""

    tree: Tree
    h: Array
    loops: Sequence[LoopRow] = ()
    targets: Sequence[TargetRow | IsotropicSpring] = ()

    @cached_property
    def springs(self) -> list[IsotropicSpring]:
        """Equal springs along three axes at points."""
        return [one for one in self.targets if isinstance(one, IsotropicSpring)]

    @cached_property
    def linear(self) -> list[LoopRow]:
        """Rows without bounds: loops, then those of users."""
        own = [
            LoopRow(one.name, one.entries, one.parts[0])
            for one in self.targets
            if isinstance(one, TargetRow) and one.linear
        ]
        return [*self.loops, *own]

    @cached_property
    def bounded(self) -> list[StepRow]:
        """Rows with bounds, for the solver."""
        return [
            StepRow(one.entries, part)
            for one in self.targets
            if isinstance(one, TargetRow) and not one.linear
            for part in one.parts
        ]

    @cached_property
    def bodies(self) -> Array:
        """Inertia of the bodies alone."""
        return composite_inertia(self.tree)

    @cached_property
    def inertia(self) -> Array:
        """Inertia of the step: of bodies, and of rows without bounds."""
        H = self.bodies
        if self.springs:
            H = H + composite_matrix(self.tree, self._particles)
        return add_loop_inertia(H, self.linear, self.h)

    @property
    def _particles(self) -> list[Inertia]:
        """For each body the inertia of the springs on it."""
        total = [Inertia(ca.SX(0.0), ca.SX.zeros(3), ca.SX.zeros(3, 3)) for _ in self.tree.inertias]
        for spring in self.springs:
            placement = self.tree.placements[spring.body]
            local = placement.E @ (spring.place - placement.r)
            particle = Inertia.at_com(self.h * spring.slope, local, np.zeros((3, 3)))
            total[spring.body] = total[spring.body] + particle
        return total

    @cached_property
    def load(self) -> Array:
        """Generalized forces of rows without bounds at the velocities before the step."""
        return self._linear_load(self.tree)

    def _linear_load(self, tree: Tree) -> Array:
        total: Array = ca.SX.zeros(tree.model.nv)
        if self.linear:
            total = total + loop_load(tree, self.linear, tree.v)
        if self.springs:
            total = total + self._spring_load(tree)
        return total

    def _spring_load(self, tree: Tree) -> Array:
        on_bodies: list[Array] = [ca.SX.zeros(6) for _ in tree.inertias]
        for spring in self.springs:
            force = -spring.slope * point_velocity(tree, spring) - spring.offset
            placement = tree.placements[spring.body]
            local, own = placement.E @ (spring.place - placement.r), placement.E @ force
            on_bodies[spring.body] = on_bodies[spring.body] + stack(cross(local, own), own)
        return tree.project(tree.accumulate_inward(on_bodies))

    def forces(self, w: Array) -> Array:
        """Force of each row (N, N m) at the end velocities ``w``: loops, then rows of users."""
        after = Tree(self.tree.model, self.tree.q, w)
        parts: list[Array] = [loop.force(w) for loop in self.loops]
        for one in self.targets:
            if isinstance(one, IsotropicSpring):
                parts.append(-one.slope * point_velocity(after, one) - one.offset)
            else:
                u = row_product(one.entries, w)
                parts.append(sum((part.force(u) for part in one.parts), ca.SX(0.0)))
        return ca.vertcat(ca.SX(0, 1), *parts)

    def generalized_forces(self, w: Array, bounded: Sequence[Array]) -> Array:
        """Generalized forces of all rows at the end velocities ``w``.

        ``bounded`` are the forces of `bounded` as the solver found them.
        """
        total = self._linear_load(Tree(self.tree.model, self.tree.q, w))
        for row, force in zip(self.bounded, bounded, strict=True):
            for entry, value in row.entries.items():
                total[entry] = total[entry] + value * force
        return total
