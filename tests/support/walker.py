"""A walking HeiMan computed, whose foot strikes and foot offs are known by construction.

Each foot rolls over its heel sphere, stands flat, turns about its Hallux and swings; hip, knee and
ankle follow from the triangle of thigh and shank. Landing and leaving speeds are those that real
recordings show at the instants of force: about 0.5 and 0.7 of the walking speed.
"""

from dataclasses import dataclass, replace

import numpy as np

import homodyn as hd
from homodyn.dynamics import position
from homodyn.motion import (
    Event,
    ForcePlate,
    Motion,
)

STEP = 1e-5


@dataclass(frozen=True)
class Walker:
    """A straight walk along X at constant speed; the right foot strikes at ``first`` + k T."""

    speed: float = 1.25
    """m/s."""
    period: float = 1.1
    """Stride (s)."""
    stance: float = 0.62
    """Share of the stride."""
    first: float = 0.1
    duration: float = 3.5
    rate: float = 100.0
    start: float = 0.0
    heading: float = 0.0
    """Turned about the vertical (rad)."""
    shift: tuple[float, float] = (0.0, 0.0)
    belt: bool = False
    lag: float = 0.5
    """Delay of the left foot after the right one, in strides."""
    landing: tuple[float, float] = (0.45, -0.2)
    """Forward speed of the heel over walking speed and its vertical speed (m/s) before it lands."""
    leaving: tuple[float, float] = (0.65, 0.4)
    """Likewise of the Hallux just after it left."""
    roll: float = 0.12
    """Share of the stride on the heel."""
    rise: float = 0.38
    """Share of the stride after which the heel lifts."""
    toe_up: float = 0.35
    """rad, at strike."""
    toe_down: float = 0.85
    """rad, at foot off."""
    hip_height: float = 0.86
    surge: float = 0.0
    """Amplitude of the pelvis fore and aft (m): it falls forward over the standing foot, so that
    the center of pressure stays below the sole."""

    @property
    def stride_length(self) -> float:
        return self.speed * self.period

    def contact(self, side: str, k: int) -> tuple[float, float]:
        """Instants of the k-th strike and the foot off that follows (s)."""
        strike = self.first + (k + (self.lag if side == "left" else 0.0)) * self.period
        return strike, strike + self.stance * self.period

    def events(self) -> list[Event]:
        """All that happens within the frames."""
        found = []
        last = self.start + self.duration
        for side in ("left", "right"):
            for k in range(-2, int(self.duration / self.period) + 3):
                strike, off = self.contact(side, k)
                found += [
                    Event(time, label, side.capitalize())
                    for time, label in ((strike, "Foot Strike"), (off, "Foot Off"))
                    if self.start < time < last
                ]
        return sorted(found, key=lambda event: event.time)

    def motion(self) -> Motion:
        count = round(self.duration * self.rate) + 1
        time = self.start + np.arange(count) / self.rate
        q = self.pose(time)
        ahead, behind = self.pose(time + STEP), self.pose(time - STEP)
        v = (ahead - behind) / (2 * STEP)
        return Motion(MODEL, time, q, v, np.gradient(v, time, axis=0), method="computed")

    def pose(self, time: np.ndarray) -> np.ndarray:
        q = np.zeros((len(time), MODEL.nq))
        x = self.speed * (time - self.first)
        middle = self.stance / 2
        x -= self.surge * np.sin(4 * np.pi * ((time - self.first) / self.period - middle))
        z = self.hip_heights(time)
        for side in ("Right", "Left"):
            angles = self._leg(side.lower(), time, x, z)
            for name, values in zip(("Hip", "Knee", "Ankle"), angles, strict=True):
                q[:, INDEX[f"{name}{side}_RY"]] = values
            swing = np.sin(2 * np.pi * (time - self.first) / self.period)
            q[:, INDEX[f"Shoulder{side}_RY"]] = (0.3 if side == "Left" else -0.3) * swing
        along = (x if not self.belt else 0.0 * x) - HIP[0]
        c, s = np.cos(self.heading), np.sin(self.heading)
        q[:, INDEX["Pelvis_TX"]] = c * along + self.shift[0]
        q[:, INDEX["Pelvis_TY"]] = s * along + self.shift[1]
        q[:, INDEX["Pelvis_TZ"]] = z - HIP[2]
        q[:, INDEX["Pelvis_RZ"]] = self.heading
        return q

    def hip_heights(self, time: np.ndarray) -> np.ndarray:
        """(frames,), m: highest in the middle of single support."""
        phase = 4 * np.pi * (time - self.first) / self.period
        return self.hip_height + 0.012 * np.cos(phase + np.pi)

    def _leg(self, side, time, hip_x, hip_z):
        strike = self.first + (self.lag if side == "left" else 0.0) * self.period
        k = np.floor((time - strike) / self.period)
        phase = (time - strike) / self.period - k
        x, z, pitch = self._foot(phase)
        x = x + self.stride_length * k + self.speed * (strike - self.first) + 0.3
        dx, dz = x - hip_x, z - hip_z
        reach = np.hypot(dx, dz)
        assert reach.max() < THIGH + SHANK, f"out of reach by {reach.max() - THIGH - SHANK:.3f} m"
        knee = np.arccos((reach**2 - THIGH**2 - SHANK**2) / (2 * THIGH * SHANK))
        hip = np.arctan2(-dx, -dz) - np.arctan2(SHANK * np.sin(knee), THIGH + SHANK * np.cos(knee))
        return hip, knee, pitch - hip - knee

    def _foot(self, phase):
        """Ankle (m, from where it is at strike) and pitch (rad, toe down) over one stride."""
        heel, toe, high = HEEL, TOE, HEEL_RADIUS
        s = np.clip(phase / self.roll, 0, 1)
        up = -self.toe_up * (1 - s) ** 2
        r = np.clip((phase - self.rise) / (self.stance - self.rise), 0, 1)
        pitch = up + self.toe_down * r**2
        center = high * (up + self.toe_up)
        x = center - np.cos(up) * heel
        z = high + np.sin(up) * heel
        pivot = high * self.toe_up - heel + toe
        lifted = r > 0
        x = np.where(lifted, pivot - np.cos(pitch) * toe + np.sin(pitch) * high, x)
        z = np.where(lifted, np.sin(pitch) * toe + np.cos(pitch) * high, z)
        swing = phase >= self.stance
        if np.any(swing):
            u = (phase[swing] - self.stance) / (1 - self.stance)
            x[swing], z[swing], pitch[swing] = self._swing(u, pivot)
        return x + np.cos(self.toe_up) * heel, z, pitch

    def _swing(self, u, pivot):
        """Cubics from the last pose on the ground to the first of the next step."""
        length = (1 - self.stance) * self.period
        high, a = HEEL_RADIUS, self.toe_down
        turn_off = 2 * a / ((self.stance - self.rise) * self.period)
        turn_on = 2 * self.toe_up / (self.roll * self.period)
        x0, z0 = pivot - np.cos(a) * TOE + np.sin(a) * high, np.sin(a) * TOE + np.cos(a) * high
        vx0 = self.leaving[0] * self.speed + turn_off * (np.sin(a) * TOE + np.cos(a) * high)
        vz0 = self.leaving[1] + turn_off * (np.cos(a) * TOE - np.sin(a) * high)
        b = -self.toe_up
        x1 = self.stride_length - np.cos(b) * HEEL
        z1 = high + np.sin(b) * HEEL
        # The body-fixed lowest place of the heel lands with these speeds.
        vx1 = self.landing[0] * self.speed + turn_on * (np.sin(b) * HEEL + np.cos(b) * high)
        vz1 = self.landing[1] + turn_on * (np.cos(b) * HEEL - np.sin(b) * high)
        bump = 0.05 * 16 * u**2 * (1 - u) ** 2
        return (
            _hermite(u, x0, x1, vx0 * length, vx1 * length),
            _hermite(u, z0, z1, vz0 * length, vz1 * length) + bump,
            _hermite(u, a, b, turn_off * length, turn_on * length),
        )

    def plates(self, rate: float = 1000.0) -> tuple[ForcePlate, ...]:
        """Forces of half a sine over each contact, one plate a foot, in the axes of the world."""
        motion = self.motion()
        plates = []
        for side in ("left", "right"):
            time = np.arange(round(self.duration * rate) + 1) / rate + self.start
            force = np.zeros((len(time), 3))
            for k in range(-2, int(self.duration / self.period) + 3):
                strike, off = self.contact(side, k)
                s = (time - strike) / (off - strike)
                on = (s >= 0) & (s <= 1)
                force[on, 2] = 800 * np.sin(np.pi * s[on]) ** 0.5
            name = side.capitalize()
            ends = [position(MODEL, motion.q, f"{part}{name}") for part in ("Heel", "Hallux")]
            middle = np.mean(ends, axis=0)
            point = np.stack([np.interp(time, motion.time, c) for c in middle.T], axis=1)
            point[:, 2] = 0.0
            plates.append(
                ForcePlate(side, rate, force, point, np.zeros_like(force), start=self.start)
            )
        return tuple(plates)

    def but(self, **changes) -> "Walker":
        return replace(self, **changes)


def backward(motion: Motion) -> Motion:
    """The same motion with time running the other way."""
    return replace(motion, q=motion.q[::-1], v=-motion.v[::-1], a=motion.a[::-1])


def _hermite(u, start, end, rate0, rate1):
    return (
        start * (2 * u**3 - 3 * u**2 + 1)
        + rate0 * (u**3 - 2 * u**2 + u)
        + end * (3 * u**2 - 2 * u**3)
        + rate1 * (u**3 - u**2)
    )


MODEL = hd.catalog.heiman()
INDEX = {name: MODEL.coordinate_index(name) for name in MODEL.coordinate_names}
_ORIGIN = {b: position(MODEL, np.zeros(MODEL.nq), b) for b in MODEL.body_names}
HIP = _ORIGIN["ThighRight"]
THIGH = float(np.linalg.norm(_ORIGIN["ShankRight"] - _ORIGIN["ThighRight"]))
SHANK = float(np.linalg.norm(_ORIGIN["FootRight"] - _ORIGIN["ShankRight"]))
_CONTACT = {c.name: c for c in MODEL.contacts}
HEEL = float(_CONTACT["HeelRight"].position[0])
HEEL_RADIUS = float(_CONTACT["HeelRight"].radius)
TOE = float(_CONTACT["HalluxRight"].position[0])
