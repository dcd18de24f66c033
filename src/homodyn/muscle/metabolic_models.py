"""Metabolic power of muscles: the models of Bhargava (2004) and of Umberger (2003, 2010).

Bhargava L. J., Pandy M. G., Anderson F. C., "A phenomenological model for estimating metabolic
energy consumption in muscle contraction", Journal of Biomechanics 37, 2004. Umberger B. R.,
Gerritsen K. G. M., Martin P. E., "A model of human muscle energy expenditure", Computer Methods in
Biomechanics and Biomedical Engineering 6, 2003. Umberger B. R., "Stance and swing phase costs in
human walking", Journal of the Royal Society Interface 7, 2010. Options are those of OpenSim.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model.muscles import Muscle
from homodyn.muscle.geometry.selects import select
from homodyn.spatial import Array

ACTIVATION, MAINTENANCE, SHORTENING, WORK, BASAL = PARTS = (
    "activation", "maintenance", "shortening", "work", "basal",
)  # fmt: skip
"""Parts of the metabolic power."""
TANH, HUBER = "tanh", "huber"
SMOOTHING_NAMES = ("", TANH, HUBER)
"""How conditions are smoothed; not at all by default."""
MIN_HEAT_RATE_W_PER_KG = 1.0
MAINTENANCE_BY_LENGTH = ((0.5, 0.5), (1.0, 1.0), (1.5, 0.0))
"""Factor of the maintenance heat by fiber length, linear in between."""
FAST_SHORTENING_W_PER_KG, SLOW_SHORTENING_W_PER_KG = 153.0, 100.0
"""Shortening heat at the largest speed, of fast and slow fibers; 100 is also the largest of slow
fibers (Umberger)."""
LENGTHENING_2003, LENGTHENING_2010 = 4.0, 0.3
"""Heat of lengthening over that of shortening slow fibers: with the work of lengthening fibers
(Umberger et al. 2003), and without (Umberger 2010)."""
SLOW_SPEED_RATIO = 2.5
"""Largest speed of fast over that of slow fibers."""
SMOOTH_WIDTH_W_PER_KG = 0.5
"""Of the corners of powers in the smooth model of Umberger."""
MIN_SMOOTH_LEVEL = 1e-3
"""Levels of excitation near this are rounded there, where their power 0.6 has no derivative."""


class FiberWork(NamedTuple):
    """State of the fibers of a muscle: numbers or symbols."""

    excitation: Array
    """0 to 1."""
    activation: Array
    """0 to 1."""
    norm_length: Array
    """In optimal fiber lengths."""
    speed: Array
    """m/s, positive where fibers lengthen."""
    active_force: Array
    """N, along the fibers."""
    passive_force: Array
    """N, of the stretched fibers and their damping."""
    length_factor: Array
    """Active force-length curve."""


class MetabolicRates(NamedTuple):
    """Metabolic power of a muscle and its parts, W."""

    total: Array
    activation: Array
    """Heat of activation; with maintenance in the model of Umberger."""
    maintenance: Array
    shortening: Array
    """Heat of shortening and lengthening."""
    work: Array
    """Mechanical power of the active element."""


@record
class MetabolicModel(Record):
    """What models of metabolic power share; derive from it to add your own.

    Raises:
        ModelError: A number is not positive, a share is not from 0 to 1, or a part is unknown.
    """

    slow_twitch_ratio: float = 0.5
    """Part of slow-twitch fibers, 0 to 1; muscles may state their own in their settings."""
    specific_tension_pa: float = 0.25e6
    """Maximal isometric force per cross section; it gives the mass of a muscle."""
    density_kg_per_m3: float = 1059.7
    effort_factor: float = 1.0
    """Factor of excitation, activation and active force."""
    include_negative_work: bool = True
    """Whether the work of lengthening fibers counts."""
    forbid_negative_power: bool = True
    """Whether heat of shortening is added where the power of a muscle would be negative."""
    enforce_minimum_heat: bool = True
    """Whether the heat of a muscle is at least 1 W/kg."""
    basal_coefficient: float = 1.2
    """Basal power is this times a power of the body mass, W/kg^exponent."""
    basal_exponent: float = 1.0
    omit: tuple[str, ...] = ()
    """Parts of `PARTS` that are left out of the sum."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "omit", tuple(self.omit))
        for part in self.omit:
            if part not in PARTS:
                raise ModelError(unknown_name("part of metabolic power", part, PARTS))
        if not 0 <= self.slow_twitch_ratio <= 1:
            raise ModelError(f"slow_twitch_ratio is from 0 to 1, got {self.slow_twitch_ratio:g}")
        for name in ("specific_tension_pa", "density_kg_per_m3", "effort_factor"):
            if not getattr(self, name) > 0:
                raise ModelError(f"{name} must be above zero, got {getattr(self, name):g}")

    @abstractmethod
    def rates(self, muscle: Muscle, fiber: FiberWork) -> MetabolicRates:
        """Metabolic power of a muscle.

        Args:
            muscle: Its parameters.
            fiber: State of its fibers.

        Returns:
            W.
        """

    def muscle_mass(self, muscle: Muscle) -> Array:
        """Mass of a muscle, kg: that of its setting ``muscle_mass``, or cross section times length.

        Args:
            muscle: Its parameters.
        """
        if "muscle_mass" in muscle.settings:
            return float(muscle.settings["muscle_mass"])
        section = muscle.max_isometric_force / self.specific_tension_pa
        return section * self.density_kg_per_m3 * muscle.optimal_fiber_length

    def slow_ratio(self, muscle: Muscle) -> float:
        """Part of slow-twitch fibers of a muscle.

        Args:
            muscle: Its parameters; its setting ``ratio_slow_twitch_fibers`` counts first.
        """
        return float(muscle.settings.get("ratio_slow_twitch_fibers", self.slow_twitch_ratio))

    def basal_power(self, body_mass: Array) -> Array:
        """Power of a body at rest, W.

        Args:
            body_mass: kg.
        """
        if BASAL in self.omit:
            return 0.0 * body_mass
        return self.basal_coefficient * body_mass**self.basal_exponent

    def _scale_effort(self, fiber: FiberWork) -> FiberWork:
        """The fibers with scaled effort."""
        return fiber._replace(
            excitation=self.effort_factor * fiber.excitation,
            activation=self.effort_factor * fiber.activation,
            active_force=self.effort_factor * fiber.active_force,
        )

    def _recruit(self, ratio: float, excitation: Array) -> tuple[Array, Array]:
        """Slow and fast fibers that an excitation recruits."""
        angle = np.pi / 2 * excitation
        return ratio * ca.sin(angle), (1 - ratio) * (1 - ca.cos(angle))


@record
class Bhargava2004(MetabolicModel):
    """The model of Bhargava et al. (2004); powers smooth in all arguments with ``smoothing``.

    Raises:
        ModelError: An option is unknown or out of range.
    """

    activation_constants: tuple[float, float] = (40.0, 133.0)
    """Of slow and fast fibers, W/kg."""
    maintenance_constants: tuple[float, float] = (74.0, 111.0)
    """Of slow and fast fibers, W/kg."""
    force_dependent_shortening: bool = False
    """Whether the coefficient of the heat of shortening depends on isometric force."""
    smoothing: str = ""
    """``"tanh"`` or ``"huber"``; none if empty."""
    velocity_smoothing: float = 10.0
    power_smoothing: float = 10.0
    heat_smoothing: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothing not in SMOOTHING_NAMES:
            raise ModelError(unknown_name("smoothing", self.smoothing, SMOOTHING_NAMES[1:]))

    def rates(self, muscle: Muscle, fiber: FiberWork) -> MetabolicRates:
        """Metabolic power of a muscle, W."""
        fiber = self._scale_effort(fiber)
        mass = self.muscle_mass(muscle)
        slow, fast = self._recruit(self.slow_ratio(muscle), fiber.excitation)
        heats = [
            mass * (constants[0] * slow + constants[1] * fast)
            for constants in (self.activation_constants, self.maintenance_constants)
        ]
        activation, maintenance = heats[0], heats[1] * maintenance_factor(fiber.norm_length)
        # As in OpenSim; it keeps quotients of the smooth condition finite.
        speed = fiber.speed + 1e-16
        shortening = -self._shortening_coefficient(muscle, fiber, speed) * speed
        work = -fiber.active_force * fiber.speed
        if not self.include_negative_work:
            work = self._either(speed, work, 0.0, self.velocity_smoothing, -1)
        if self.forbid_negative_power:
            power = activation + maintenance + shortening + work
            shortening = shortening - self._either(-power, 0.0, power, self.power_smoothing, 1)
        present = dict(zip(PARTS, (activation, maintenance, shortening, work), strict=False))
        activation, maintenance, shortening, work = (
            0.0 * value if name in self.omit else value for name, value in present.items()
        )
        heat = activation + maintenance + shortening
        if self.enforce_minimum_heat and not {ACTIVATION, MAINTENANCE, SHORTENING} & set(self.omit):
            least = MIN_HEAT_RATE_W_PER_KG * mass
            heat = self._either(least - heat, heat, least, self.heat_smoothing, 1)
        return MetabolicRates(heat + work, activation, maintenance, shortening, work)

    def _shortening_coefficient(self, muscle: Muscle, fiber: FiberWork, speed: Array) -> Array:
        """Heat of shortening per length, N."""
        total = fiber.active_force + fiber.passive_force
        if not self.force_dependent_shortening:
            return self._either(speed, 0.25 * total, 0.0, self.velocity_smoothing, -1)
        isometric = fiber.activation * fiber.length_factor * muscle.max_isometric_force
        concentric, eccentric = 0.16 * isometric + 0.18 * total, 0.157 * total
        kind = TANH if self.smoothing else ""
        return conditional(kind, speed, concentric, eccentric, self.velocity_smoothing, -1)

    def _either(
        self, condition: Array, low: Array, high: Array, steepness: float, direction: int
    ) -> Array:
        return conditional(self.smoothing, condition, low, high, steepness, direction)


@record
class Umberger2010(MetabolicModel):
    """The model of Umberger et al. (2003) with the changes of Umberger (2010).

    Raises:
        ModelError: An option is unknown or out of range.
    """

    aerobic_factor: float = 1.5
    """1.5 for mainly aerobic, 1 for anaerobic conditions."""
    recruit_by_excitation: bool = True
    """Whether slow fibers are recruited first, as in the model of Bhargava, so that their part of
    the active fibers depends on excitation."""
    smoothing: str = ""
    """``"tanh"``: powers have continuous derivatives, for optimal control; exact if empty."""
    smoothing_steepness: float = 10.0
    """Of the changes between shortening and lengthening (per optimal length a second), short and
    long fibers (per optimal length) and rising and falling excitation."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothing not in ("", TANH):
            raise ModelError(unknown_name("smoothing", self.smoothing, (TANH,)))

    def rates(self, muscle: Muscle, fiber: FiberWork) -> MetabolicRates:
        """Metabolic power of a muscle, W."""
        fiber = self._scale_effort(fiber)
        mass, ratio = self.muscle_mass(muscle), self._slow_part(muscle, fiber.excitation)
        mean = 0.5 * (fiber.excitation + fiber.activation)
        level = self._either(fiber.excitation - fiber.activation, mean, fiber.excitation)
        stretch = fiber.norm_length - 1.0
        isometric = fiber.length_factor
        unscaled = 128 * (1 - ratio) + 25
        known = level**0.6 if not self.smoothing else (level**2 + MIN_SMOOTH_LEVEL**2) ** 0.3
        short = self.aerobic_factor * known * unscaled
        activation = self._either(stretch, short, short * (0.4 + 0.6 * isometric))
        shortening = self._shortening(muscle, fiber.speed, level, ratio)
        shortening = self._either(stretch, shortening, shortening * isometric)
        force = ca.fmax(fiber.active_force, 0.0)
        work = -force * fiber.speed / mass
        if not self.include_negative_work:
            work = self._either(fiber.speed / muscle.optimal_fiber_length, work, 0.0)
        if self.forbid_negative_power:
            shortening = shortening + self._positive(-(activation + shortening + work))
        present = {ACTIVATION: activation, SHORTENING: shortening, WORK: work}
        activation, shortening, work = (
            0.0 * value if name in self.omit else value for name, value in present.items()
        )
        heat = activation + shortening
        if self.enforce_minimum_heat and not {ACTIVATION, SHORTENING} & set(self.omit):
            heat = MIN_HEAT_RATE_W_PER_KG + self._positive(heat - MIN_HEAT_RATE_W_PER_KG)
        watts = (heat + work, activation, 0.0 * activation, shortening, work)
        return MetabolicRates(*(mass * one for one in watts))

    def _slow_part(self, muscle: Muscle, excitation: Array) -> Array:
        """Part of slow fibers of those that are active."""
        ratio = self.slow_ratio(muscle)
        if not self.recruit_by_excitation:
            return ratio
        if self.smoothing:
            # The same quotient, without zero over zero.
            fast_ratio = (1 - ratio) * ca.tan(np.pi / 4 * excitation)
            return ratio / (ratio + fast_ratio) if ratio > 0 else 0.0
        slow, fast = self._recruit(ratio, excitation)
        both = slow + fast
        return select(both > 0, slow / select(both > 0, both, 1.0), 1.0)

    def _shortening(self, muscle: Muscle, speed: Array, level: Array, ratio: Array) -> Array:
        """Heat of shortening or lengthening of fibers up to the optimal length, W/kg."""
        lengths_per_second = speed / muscle.optimal_fiber_length
        fastest = muscle.max_contraction_velocity
        slow = SLOW_SHORTENING_W_PER_KG / (fastest / SLOW_SPEED_RATIO)
        fast = FAST_SHORTENING_W_PER_KG / fastest
        excess = self._positive(-slow * lengths_per_second - SLOW_SHORTENING_W_PER_KG)
        slow_heat = -slow * lengths_per_second - excess
        concentric = slow_heat * ratio - fast * lengths_per_second * (1 - ratio)
        coefficient = LENGTHENING_2003 if self.include_negative_work else LENGTHENING_2010
        eccentric = coefficient * slow * lengths_per_second
        rates = level**2 * concentric, level * eccentric
        return self.aerobic_factor * self._either(lengths_per_second, *rates)

    def _either(self, condition: Array, low: Array, high: Array) -> Array:
        return conditional(self.smoothing, condition, low, high, self.smoothing_steepness, 1)

    def _positive(self, power: Array) -> Array:
        """A power (W/kg) where it is positive, else zero."""
        if not self.smoothing:
            return ca.fmax(power, 0.0)
        return 0.5 * (power + ca.sqrt(power**2 + SMOOTH_WIDTH_W_PER_KG**2))


def maintenance_factor(norm_length: Array) -> Array:
    """Factor of the maintenance heat by fiber length.

    Args:
        norm_length: In optimal fiber lengths.
    """
    (x0, y0), (x1, y1), (x2, y2) = MAINTENANCE_BY_LENGTH
    rising = y0 + (y1 - y0) / (x1 - x0) * ca.fmin(ca.fmax(norm_length - x0, 0.0), x1 - x0)
    falling = (y2 - y1) / (x2 - x1) * ca.fmin(ca.fmax(norm_length - x1, 0.0), x2 - x1)
    return rising + falling


def conditional(
    kind: str, condition: Array, low: Array, high: Array, steepness: float, direction: int
) -> Array:
    """``low`` where a condition is negative, else ``high``; smooth between them with a kind.

    Args:
        kind: One of `SMOOTHING_NAMES`.
        condition: The number whose sign decides.
        low: Value below zero.
        high: Value above zero; with ``"huber"``, one of both is zero and the other is linear in the
            condition.
        steepness: Of the change.
        direction: 1 if ``low`` is the value that does not change, -1 if ``high`` is, with
            ``"huber"``.
    """
    if kind == TANH:
        return low + (high - low) * (0.5 + 0.5 * ca.tanh(steepness * condition))
    if kind == HUBER:
        offset = low if direction == 1 else high
        y = steepness * (direction * condition + 0.5 / steepness)
        inner = ca.fmin(ca.fmax(y, 0.0), 1.0)
        loss = 0.5 * inner**2 + ca.fmax(y - 1.0, 0.0)
        value = (loss + offset) / steepness + offset * (1 - 1 / steepness)
        return (high - low) / condition * value
    return select(condition <= 0, low, high)
