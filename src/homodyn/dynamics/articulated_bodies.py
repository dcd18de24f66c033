"""Articulated bodies at one pose, for many loads: H^-1 without H.

The inertia pass of Featherstone's algorithm runs once. Each load then takes one inward pass along
the bodies it acts on and one outward pass to the bodies of interest (Felis 2015, section 3.5.3,
after Kokkevis and Metaxas).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.dynamics.aba import inverse_spd
from homodyn.dynamics.tree import Tree
from homodyn.spatial import Array, ArticulatedInertia, stack, stack_columns


@dataclass(frozen=True, eq=False)
class ArticulatedBodies:
    """The tree with its articulated inertias."""

    tree: Tree

    @cached_property
    def joints(self) -> list[tuple[list[int], Array, Array]]:
        """For each joint its entries of v, W = IA S D^-1 and D^-1 with D = S^T IA S + armature."""
        model, tree = self.tree.model, self.tree
        inertia = [ArticulatedInertia.of(body) for body in tree.inertias]
        result: list[tuple[list[int], Array, Array]] = [([], None, None)] * len(inertia)
        for i in reversed(range(len(inertia))):
            joint, parent = tree.joints[i], model.parents[i]
            rows = [entry for entry, _ in tree.weights[i]]
            transmitted = inertia[i]
            if rows:
                U = stack_columns(*[inertia[i] @ joint.S[:, k] for k in range(joint.S.shape[1])])
                D = joint.S.T @ U + ca.diag(ca.SX([model.coordinates[k].armature for k in rows]))
                inverse = inverse_spd(D)
                W = U @ inverse
                transmitted = inertia[i].minus_outer(W, U)
                result[i] = (rows, W, inverse)
            if parent >= 0:
                inertia[parent] = inertia[parent] + transmitted.transform_back(joint.X)
        return result

    def solve(self, load: Array) -> Array:
        """H^-1 load."""
        all_bodies = range(len(self.tree.model.bodies))
        return self.response({}, reaching=all_bodies, load=load)[0]

    def response(
        self, wrenches: Mapping[int, Array], reaching: Iterable[int], load: Array | None = None
    ) -> tuple[Array, dict[int, Array]]:
        """Accelerations of a system at rest without gravity.

        Args:
            wrenches: Wrenches in body frames, by body index.
            reaching: Bodies whose accelerations are needed.
            load: Generalized forces, (nv,).

        Returns:
            Accelerations of the degrees of freedom, and of the bodies and their ancestors.
        """
        model, tree = self.tree.model, self.tree
        forces: dict[int, Array] = {body: -wrench for body, wrench in wrenches.items()}
        free_accelerations: dict[int, Array] = {}
        for i in reversed(range(len(self.joints))):
            rows, W, inverse = self.joints[i]
            force = forces.get(i)
            if rows and (force is not None or load is not None):
                u = 0 if load is None else stack(*[load[k] for k in rows])
                if force is not None:
                    u = u - tree.joints[i].S.T @ force
                free_accelerations[i] = inverse @ u
                force = W @ u if force is None else force + W @ u
            parent = model.parents[i]
            if force is not None and parent >= 0:
                share = tree.joints[i].X.force_back(force)
                forces[parent] = forces[parent] + share if parent in forces else share
        needed = {k for body in reaching for k in tree.ancestors(body)}
        result: list[Array] = [ca.SX(0)] * model.nv
        accelerations: dict[int, Array] = {}
        for i in sorted(needed):
            rows, W, _ = self.joints[i]
            parent = model.parents[i]
            above = None if parent < 0 else tree.joints[i].X.motion(accelerations[parent])
            acceleration = np.zeros(6) if above is None else above
            if rows:
                own = free_accelerations.get(i, ca.SX(len(rows), 1))
                if above is not None:
                    own = own - W.T @ above
                for k, row in enumerate(rows):
                    result[row] = own[k]
                acceleration = acceleration + tree.joints[i].S @ own
            accelerations[i] = acceleration
        return stack(*result), accelerations
