"""Contact of soft tissue and soles: springs that stiffen, with dissipation by hysteresis.

The heel pad of the foot becomes stiffer as it is compressed, and returns only a part of the energy.
Along the normal, with compression x of the pad and the closing velocity v,

    f = k / c (exp(c x) - 1) (1 + d v),

so that the stiffness is k at first and grows by the factor e every 1 / c. A sole of linear
stiffness s below the pad is in series with it: the indentation is x + f / s without dissipation.
Dissipation is that of Hunt and Crossley (1975): the fraction of energy that a mass loses in an
impact depends on its speed and on d, and neither on the mass nor on the spring.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from scipy.optimize import brentq

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation import unknown_name
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.simulate.constants import BatchParameters, Constant, gap_constant, gap_friction
from homodyn.simulate.geometry import ContactGeometry, Gap, gap_velocity
from homodyn.simulate.laws.soft_contact import NormalForce, SpringContact
from homodyn.spatial import Array

HEEL_STIFFNESS_N_PER_M = 32e3
"""Initial stiffness of the heel pad in walking, mean of 32 (standard deviation 11) N/mm (Wearing
et al. 2014, in vivo, fluoroscopy and pressure platform)."""
HEEL_FINAL_STIFFNESS_N_PER_M = 212e3
"""Stiffness at the largest compression there, 212 (125) N/mm."""
HEEL_COMPRESSION_M = 0.0103
"""The largest compression there, 10.3 mm."""
HEEL_ENERGY_LOSS = 0.33
"""Fraction of energy that the isolated pad loses in a cycle after a rest of 1 s; it grows by 0.037
with every tenfold rest (Ker 1996)."""
HEEL_SPEED_M_PER_S = 0.3
"""Speed at which that loss is assumed; the source has none, as it deformed the pad sinusoidally."""
SERIES_ITERATIONS = 8
"""Newton iterations for the compression of a pad above a sole."""
MIN_EXPONENT = 1e-3
"""Product of stiffening and compression below which a series replaces the exponential function; its
error is 1e-14 there."""
MAX_DISSIPATION_SPEED = 50.0
"""Largest product of dissipation and speed that is searched for a loss."""


@record(eq=True)
class PadContact(SpringContact, Record):
    """Stiffening springs with hysteresis and bristles for friction, as a force law.

    Constants are one number for all contact shapes, numbers by name of the shape with ``"*"`` for
    the others, or names of batch parameters. `heel_pads` has the measured constants of the heel.
    """

    stiffness: Constant = HEEL_STIFFNESS_N_PER_M
    """Without load (N/m)."""
    stiffening: Constant = 183.0
    """Inverse of the compression over which the stiffness grows by the factor e (1/m); 0 for a
    linear spring."""
    dissipation: Constant = 0.9
    """s/m."""
    sole_stiffness: Constant | None = None
    """Of a sole below the pad (N/m); None without one."""
    friction: Constant = 0.8
    """Coefficient of friction."""
    tangential_stiffness: Constant | None = None
    """Stiffness of the bristles (N/m); None: as along the normal without load."""
    tangential_damping: Constant = 100.0
    """Damping of the bristles (N s/m)."""
    name: str = "pad"
    bristle = True
    slip = 0.0

    def _normal_force(
        self, geometry: ContactGeometry, tree: Tree, gap: Gap, batch: BatchParameters
    ) -> NormalForce:
        """Normal force, velocity of the gap, and the tangential constants."""

        def number(value: Constant, what: str) -> Array:
            return gap_constant(value, geometry, gap, batch, what)

        k, c = number(self.stiffness, "stiffness"), number(self.stiffening, "stiffening")
        kt = k if self.tangential_stiffness is None else number(self.tangential_stiffness, "kt")
        dt = number(self.tangential_damping, "tangential_damping")
        mu = gap_friction(self.friction, geometry, gap, batch)
        depth = ca.fmax(-gap.distance, 0.0)
        if self.sole_stiffness is not None:
            sole = number(self.sole_stiffness, "sole_stiffness")
            depth = _compression_above_sole(depth, k, c, sole)
        velocity = gap_velocity(tree, gap)
        factor = 1 - number(self.dissipation, "dissipation") * ca.dot(gap.normal, velocity)
        force = ca.fmax(pad_force(depth, k, c) * factor, 0.0)
        return force, velocity, (kt, dt, mu)


def pad_force(compression: Array, stiffness: Array, stiffening: Array) -> Array:
    """Elastic force of a pad, k / c (exp(c x) - 1).

    Args:
        compression: x (m).
        stiffness: Without load, k (N/m).
        stiffening: c (1/m).

    Returns:
        N.
    """
    x = stiffening * compression
    # expm1(x) / x by its series where the difference would cancel.
    series = 1 + x / 2 * (1 + x / 3 * (1 + x / 4))
    safe = ca.if_else(x > MIN_EXPONENT, x, 1.0)
    growth = ca.if_else(x > MIN_EXPONENT, (ca.exp(safe) - 1) / safe, series)
    return stiffness * compression * growth


def _compression_above_sole(indentation: Array, k: Array, c: Array, sole: Array) -> Array:
    """The part of an indentation that is the compression of the pad."""
    # The pad is at least as stiff as without load, so this is at least the compression; from there
    # Newton's method converges from above, because the force is convex.
    x = indentation * sole / (sole + k)
    for _ in range(SERIES_ITERATIONS):
        excess = x + pad_force(x, k, c) / sole - indentation
        x = x - excess / (1 + k * ca.exp(c * x) / sole)
    return x


def heel_pads(
    model: Model,
    heels: tuple[str, ...] | None = None,
    *,
    forefoot_stiffness: float = HEEL_STIFFNESS_N_PER_M,
    sole_stiffness: float | None = None,
) -> PadContact:
    """The law with the measured stiffness and loss of heel pads.

    Initial and final stiffness are those of Wearing et al. (2014), the loss of energy is that of
    Ker (1996). Both measured the pad below the calcaneus. That the forefoot stiffens and
    dissipates in the same way is an assumption, as is its stiffness.

    Args:
        model: A model with contact shapes of the feet.
        heels: Names of contact shapes, each of which has a whole heel pad; by default those whose
            names contain "heel".
        forefoot_stiffness: Stiffness without load of each other contact shape (N/m).
        sole_stiffness: Stiffness of a sole below each pad (N/m); None for bare feet.

    Returns:
        The law.

    Raises:
        ModelError: There is no such shape, or the stiffness is not positive.
    """
    names = [shape.name for shape in model.contacts]
    chosen = heels or tuple(name for name in names if "heel" in name.lower())
    if not chosen:
        raise ModelError(
            f"no contact shape of {model.name!r} is called heel; name those of the heels "
            f"(it has {', '.join(names) or 'none'})"
        )
    for name in chosen:
        if name not in names:
            raise ModelError(unknown_name("contact", name, names))
    for what, value in (("forefoot", forefoot_stiffness), ("sole", sole_stiffness)):
        if value is not None and not value > 0:
            raise ModelError(f"the stiffness of the {what} must be positive, got {value} N/m")
    growth = np.log(HEEL_FINAL_STIFFNESS_N_PER_M / HEEL_STIFFNESS_N_PER_M)
    return PadContact(
        stiffness={**dict.fromkeys(chosen, HEEL_STIFFNESS_N_PER_M), "*": forefoot_stiffness},
        stiffening=float(growth / HEEL_COMPRESSION_M),
        dissipation=dissipation_of_loss(HEEL_ENERGY_LOSS, HEEL_SPEED_M_PER_S),
        sole_stiffness=sole_stiffness,
    )


def dissipation_of_loss(loss: float, speed: float) -> float:
    """The dissipation with which a mass loses a fraction of its energy in an impact.

    With m v dv / (1 + d v) = -f dx, compression and rebound cover the same range of f, so that

        v0 / d - ln(1 + d v0) / d^2 = -v1 / d - ln(1 - d v1) / d^2

    for speeds v0 before and v1 after the impact, whatever the mass and the spring.

    Args:
        loss: Fraction of the kinetic energy that is lost, from 0 to below 1.
        speed: Speed before the impact (m/s).

    Returns:
        d (s/m).

    Raises:
        ModelError: The loss is not such a fraction, or the speed is not positive.
    """
    if not (0 <= loss < 1 and speed > 0):
        raise ModelError(
            f"a loss from 0 to below 1 at a positive speed is needed, got {loss} at {speed} m/s"
        )
    if loss == 0:
        return 0.0
    after = np.sqrt(1 - loss)

    def difference(x: float) -> float:
        return float(x - np.log1p(x) + x * after + np.log1p(-x * after))

    limit = (1 - 1e-12) / after
    return float(brentq(difference, 1e-9, min(limit, MAX_DISSIPATION_SPEED))) / speed
