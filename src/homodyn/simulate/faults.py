"""What went wrong in a step that could not be taken: what, where and when."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.dynamics import mass_matrix
from homodyn.model import Model
from homodyn.simulate.actuation import torque_kernel
from homodyn.simulate.record import Status
from homodyn.simulate.setup import Setup

SMALLEST = 1e-12
"""Inertia, of the largest there is, that counts as none."""
HALF = 0.5
"""Share of the largest kinetic energy that contacts may bring before they count as unstable."""
NOISE = 1e-5
"""J/kg: the same for bodies that hardly move."""


def fault(
    setup: Setup,
    status: int,
    t: float,
    h: float,
    q: np.ndarray,
    v: np.ndarray,
    torque: np.ndarray,
    lane: np.ndarray,
    parameters: np.ndarray | None,
) -> str:
    """Why the step of ``h`` (s) at ``t`` (s) from this state ended with the status.

    ``torque`` is what comes from outside the kernel, ``lane`` holds the named numbers.
    """
    model = setup.model if parameters is None else setup.model.at(parameters)
    names = model.coordinate_names
    traced = torque_kernel(model, setup.traced, setup.lane, setup.limited)
    acting = np.asarray(traced(np.asarray(t), q, v, torque, lane))
    # Limits of motors would hide what is no number.
    bad = [
        n for n, *parts in zip(names, torque, acting, strict=True) if not np.isfinite(parts).all()
    ]
    if bad:
        return f"at {t:.6g} s the torque of {', '.join(bad)} is not a finite number"
    if status == Status.NOT_CONVERGED.value:
        return f"the step of {h:g} s at {t:.6g} s could not be solved; take a smaller one"
    H = mass_matrix(model, q)
    size = np.linalg.eigvalsh(H) if np.isfinite(H).all() else np.zeros(1)
    if len(names) and size[0] <= SMALLEST * size[-1]:
        return f"at {t:.6g} s the mass matrix is not positive definite: {lightest(model, H)}"
    fastest = int(np.argmax(np.abs(v))) if len(names) else 0
    return (
        f"the step of {h:g} s at {t:.6g} s left the range of numbers; before it "
        f"{names[fastest]} moved at {v[fastest]:.3g} (SI units): take smaller steps, "
        "implicit springs, or softer contacts and gains"
    )


def made_energy(setup: Setup, kept: Mapping[str, np.ndarray], steps: int) -> tuple[int, str] | None:
    """The first kept time by which springs of contacts gave more than they had, and a sentence.

    Passive ones never do. Where they do it is the step that is too long for them: bodies are thrown
    off the ground though every number is finite.
    """
    if setup.law is None or setup.stepping or hasattr(setup.law, "simulate"):
        return None
    gave = kept["work"][:, 1]
    had = np.sum(np.linalg.norm(kept["forces"][0], axis=-1) * np.maximum(-kept["distances"][0], 0))
    moving = np.maximum.accumulate(kept["kinetic"])
    noise = NOISE * float(setup.model._usual(setup.model.mass))
    wrong = np.flatnonzero(gave - had > HALF * moving + noise)
    if not wrong.size:
        return None
    k = int(wrong[0])
    hardest = int(np.argmax(np.linalg.norm(kept["forces"][: k + 1], axis=-1).max(axis=0)))
    return k, (
        f"by {kept['t'][k]:.6g} s contacts have made {gave[k] - had:.3g} J out of nothing, most of "
        f"all {setup.scene.names[hardest]}: steps of {kept['t'][-1] / steps:.3g} s are too long; "
        "take shorter ones, softer contacts, or implicit springs"
    )


def lightest(model: Model, H: np.ndarray) -> str:
    """The coordinate whose motion nothing resists, in words."""
    if not np.isfinite(H).all():
        return "it is not finite"
    along = np.abs(np.linalg.eigh(H)[1][:, 0])
    name = model.coordinate_names[int(np.argmax(along))]
    return f"nothing resists motion along {name}; give its bodies mass and inertia"
