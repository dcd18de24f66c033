"""What went wrong in a step that could not be taken: what, where and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from homodyn.dynamics import mass_matrix
from homodyn.model import Model
from homodyn.simulate.actuation import torque_kernel
from homodyn.simulate.record import Status
from homodyn.simulate.setup import Setup

SMALLEST = 1e-12
"""Inertia, of the largest there is, that counts as none."""
COARSE = 0.01
"""m/s, of contacts or of the whole mass: what a step may leave unsolved without a word."""
FULL = 1 - 1e-6
"""Share of its largest torque from which a motor counts as at its limit."""
STOPPED = 1e-3
"""rad, m: a joint further beyond its limit is told of."""
NAMED = 5
"""How many coordinates a note names."""
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


def limits_met(setup: Setup, kept: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """Which motors gave all that they can, and which joints came to their stops, in words."""
    model, time = setup.model, kept["t"]
    if len(time) < 2:
        return ()
    told = []
    # As in `torque_bounds`: beyond its fastest full torque a motor keeps its power.
    fast = np.where(np.isfinite(model.max_velocity), model.max_velocity, np.inf)
    slowed = np.minimum(fast / np.maximum(np.abs(kept["v"][:-1]), 1e-300), 1.0)
    most = model.max_force * np.where((fast > 0) & np.isfinite(fast), slowed, 1.0)
    full = (np.abs(kept["torques"][:-1]) >= FULL * most) & (most > 0)
    spent = np.where(full & setup.limited, np.diff(time)[:, None], 0.0).sum(axis=0)
    if spent.any():
        named = _listed(model, spent, lambda k: f"{model.coordinate_names[k]} ({spent[k]:.3g} s)")
        told.append(f"motors gave all that they can: {named}")
    places = [0 if place is None else place for place in model.position_index]
    known = np.array([place is not None for place in model.position_index], bool)
    q = kept["q"][:, places]
    beyond = np.maximum(np.asarray(model.lower) - q, q - np.asarray(model.upper)).max(axis=0)
    deep = np.where(known & (beyond > STOPPED), beyond, 0.0)
    if deep.any():
        named = _listed(model, deep, lambda k: f"{model.coordinate_names[k]} ({deep[k]:.2g})")
        told.append(f"joints beyond their limits, by rad or m: {named}")
    return tuple(told)


def left_over(setup: Setup, kept: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """How often a law with a fixed number of iterations stopped short of `COARSE`, in words."""
    if not setup.stepping or not kept["residual"].any():
        return ()
    more = "sweeps" if setup.law.residual_unit == "m/s" else "iterations"
    scale = 1.0 if more == "sweeps" else float(setup.model._usual(setup.model.mass))
    speed = kept["residual"] / scale
    worst = int(np.argmax(speed))
    if speed[worst] <= COARSE:
        return ()
    return (
        f"contacts were solved to {COARSE} m/s in all but {np.sum(speed > COARSE)} of {len(speed)} "
        f"kept steps, worst {speed[worst]:.2g} m/s at {kept['t'][worst]:.6g} s; more {more} or "
        "shorter steps leave less",
    )


def _listed(model: Model, size: np.ndarray, told: Callable[[int], str]) -> str:
    """The largest few of what is above zero."""
    order = [int(k) for k in np.argsort(-size, kind="stable") if size[k] > 0]
    more = f" and {len(order) - NAMED} more" if len(order) > NAMED else ""
    return ", ".join(told(k) for k in order[:NAMED]) + more


def lightest(model: Model, H: np.ndarray) -> str:
    """The coordinate whose motion nothing resists, in words."""
    if not np.isfinite(H).all():
        return "it is not finite"
    along = np.abs(np.linalg.eigh(H)[1][:, 0])
    name = model.coordinate_names[int(np.argmax(along))]
    return f"nothing resists motion along {name}; give its bodies mass and inertia"
