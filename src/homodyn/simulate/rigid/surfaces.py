"""Numbers of contacts that are given for all of them or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.model.naming import missing
from homodyn.simulate.geometry import Gap, Scene


def named_gaps(scene: Scene) -> list[Gap]:
    """The gaps of a scene at no state in particular, for what they are of and on."""
    return scene.gaps(Tree(scene.model, ca.SX.sym("q", scene.model.nq)))


def per_contact(given: Any, scene: Scene, gaps: Sequence[Gap], what: str) -> list[Any]:
    """One number for each gap, from one for all or a mapping from names of contact shapes."""
    if not isinstance(given, Mapping):
        return [given] * len(gaps)
    names = [scene.model.contacts[gap.shape].name for gap in gaps]
    for name in given:
        if name not in names:
            raise ModelError(f"{what}: there is {missing('contact', name, names)}")
    absent = [name for name in names if name not in given]
    if absent:
        raise ModelError(f"{what} has no value for the contacts {', '.join(absent)}")
    return [given[name] for name in names]
