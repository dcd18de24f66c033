"""A lower leg that stimulated muscles move, and a slow simulation of it from event to event."""

import numpy as np
from scipy.integrate import solve_ivp

from homodyn.model import Assembly, box, joints
from homodyn.muscle.stimulation import KneeGeometry, add_knee_muscles

GEOMETRY = KneeGeometry()
FORCE_N, SERIES_N_PER_M, STIFFNESS_N_PER_M = 500.0, 1e4, 1e4
CONTRACTILE_M, REST_M = np.array([0.082, 0.107]), 0.492
GRAVITY, MASS_KG, CENTER_M = 9.81, 4.0, 0.2
LEVEL_PER_S, DELAY_S, STIMULATION_S, RELAXATION_S = 5.0, 0.05, 0.02, 0.01
"""Tables 1.1 and 1.3 of the document."""


def build(geometry=GEOMETRY, limited=False):
    """A thigh on the world and a shank; the coordinate is the flexion of the knee."""
    limits = {"lower": 0.0, "upper": 2.4} if limited else {}
    thigh = box("thigh", 8.0, (0.1, 0.1, 0.42))
    skeleton = (
        Assembly("knee")
        .add(thigh, joints.fixed(), joint_name="hip")
        .add(
            box("shank", MASS_KG, (0.1, 0.1, 2 * CENTER_M), com=(0, 0, -CENTER_M)),
            joints.revolute("y", **limits),
            "thigh",
            at=(0, 0, -0.42),
            joint_name="knee",
        )
        .model()
    )
    return add_knee_muscles(skeleton, ("knee",), geometry)


def lengths(q):
    """Lengths of quadriceps and hamstrings by the formulas of the document."""
    g = GEOMETRY
    r, thigh = g.pulley_radius_m, g.thigh_distance_m
    front, back = g.quadriceps_distance_m, g.hamstrings_distance_m
    quadriceps = r * q + np.sqrt(thigh**2 - r**2) + np.sqrt(front**2 - r**2)
    quadriceps += r * np.arcsin(r / thigh) + r * np.arcsin(r / front)
    hamstrings = np.sqrt(thigh**2 + back**2 + 2 * thigh * back * np.cos(q))
    return np.array([quadriceps, hamstrings])


def length_slopes(q):
    """Their derivatives."""
    g = GEOMETRY
    product = g.thigh_distance_m * g.hamstrings_distance_m
    return np.array([g.pulley_radius_m, -product * np.sin(q) / lengths(q)[1]])


class EventDrivenKnee:
    """Integration from event to event with the states and the queue of the document."""

    def __init__(self, law, period, ramp=True, inertia=0.06):
        self.law, self.period, self.ramp, self.inertia = law, period, ramp, inertia
        self.phase, self.charge = np.zeros(2, int), np.zeros(2)
        self.clock = np.full(2, -RELAXATION_S)
        self.next_call, self.queue = 0.0, []
        self.phases = []

    def level(self, t, k):
        """The command of a muscle."""
        if self.phase[k] == 2:
            return LEVEL_PER_S
        if self.phase[k] == 1 and self.ramp:
            left = (self.clock[k] - t) / RELAXATION_S
            return LEVEL_PER_S * (2 * left - 1)
        return -LEVEL_PER_S

    def handle(self, t, state):
        """The four cases of the document, all that are due at this time."""
        if t >= self.next_call - 1e-12:
            self.queue.append((t + DELAY_S, np.asarray(self.law(t, state[0], state[1]))))
            self.next_call += self.period
        for k in range(2):
            if self.phase[k] and t >= self.clock[k] - 1e-12:
                self.phase[k] -= 1
                self.charge[k] *= self.phase[k]
                self.clock[k] = t + RELAXATION_S * (2 * self.phase[k] - 1)
        while self.queue and t >= self.queue[0][0] - 1e-12:
            _, charges = self.queue.pop(0)
            chosen = charges > 0
            self.phase[chosen], self.charge[chosen] = 2, charges[chosen]
            self.clock[chosen] = t + STIMULATION_S
        self.phases.append((t, *self.phase))

    def rate(self, t, x):
        """Rates of angle, speed, stiffnesses and forces."""
        q, speed, k_c, f_c = x[0], x[1], x[2:4], x[4:6]
        level = np.array([self.level(t, k) for k in range(2)])
        alpha = 0.5 + 0.5 * np.tanh(5 * (self.charge - 0.5)) / np.tanh(2.5)
        alpha, high = np.where(self.phase > 0, alpha, 0.0), np.maximum(level, 0)
        strain = lengths(q) / REST_M - 1
        parabola = np.maximum(1 - (strain / 0.4) ** 2, 0)
        strain_rate = length_slopes(q) * speed / REST_M
        top = SERIES_N_PER_M * REST_M * strain_rate + f_c * abs(level)
        top -= alpha * FORCE_N * parabola * high
        stretch = (SERIES_N_PER_M + k_c) * CONTRACTILE_M
        own = top / (stretch - np.sign(top) * f_c)
        decay = abs(level) + abs(own)
        stiffening = -decay * k_c + alpha * STIFFNESS_N_PER_M * parabola * high
        pulling = SERIES_N_PER_M * (REST_M * strain_rate - CONTRACTILE_M * own)
        torque = -length_slopes(q) @ f_c - GEOMETRY.friction_n_m_s * speed
        torque -= MASS_KG * GRAVITY * CENTER_M * np.sin(q)
        return np.array([speed, torque / self.inertia, *stiffening, *pulling])

    def run(self, q0, duration):
        """State at the end."""
        t, x = 0.0, np.array([q0, 0.0, 0, 0, 0, 0])
        while t < duration - 1e-12:
            self.handle(t, x)
            due = [duration, self.next_call, *(moment for moment, _ in self.queue)]
            due += [clock for phase, clock in zip(self.phase, self.clock, strict=True) if phase]
            end = min(moment for moment in due if moment > t + 1e-12)
            x = solve_ivp(self.rate, (t, end), x, rtol=1e-11, atol=1e-12, method="DOP853").y[:, -1]
            t = end
        return x
