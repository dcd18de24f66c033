"""A stroll of HeiMan made of smooth curves: motions, trials and plates for tests of reports."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import homodyn as hd
from homodyn.capture import Event, FitStatus, ForcePlate, Motion, Signals, Trial

STRIDE = 1.1
SPEED = 1.25


def bump(phase: np.ndarray, centre: float, width: float) -> np.ndarray:
    """A smooth hill on the circle of a gait cycle, 1 at its centre."""
    return np.exp((np.cos(2 * np.pi * (phase - centre)) - 1) / width**2)


def coordinates(time: np.ndarray) -> dict[str, np.ndarray]:
    """Angles (rad) and places (m) of HeiMan at instants (s): right heel strikes at phase 0."""
    phase = time / STRIDE
    curves = {
        "Pelvis_TX": SPEED * time,
        "Pelvis_TY": 0.02 * np.sin(2 * np.pi * phase),
        "Pelvis_RX": np.deg2rad(4) * np.sin(2 * np.pi * phase),
        "Pelvis_RZ": np.deg2rad(5) * np.cos(2 * np.pi * phase),
        "Lumbar_RZ": -np.deg2rad(8) * np.cos(2 * np.pi * phase),
        "Lumbar_RY": np.deg2rad(3 + np.cos(4 * np.pi * phase)),
    }
    for side, shift, out in (("Right", 0.0, 1.0), ("Left", 0.5, -1.0)):
        p = phase + shift
        hip = 8 + 22 * np.cos(2 * np.pi * (p - 0.02))
        knee = 6 + 14 * bump(p, 0.14, 0.35) + 55 * bump(p, 0.72, 0.5)
        ankle = 2 + 9 * bump(p, 0.42, 0.6) - 20 * bump(p, 0.63, 0.32)
        curves |= {
            f"Hip{side}_RY": -np.deg2rad(hip),
            f"Hip{side}_RX": out * np.deg2rad(4 * np.sin(2 * np.pi * p)),
            f"Knee{side}_RY": np.deg2rad(knee),
            f"Ankle{side}_RY": -np.deg2rad(ankle),
            f"Shoulder{side}_RY": np.deg2rad(18) * np.cos(2 * np.pi * (p - 0.02)),
            f"Elbow{side}_RY": -np.deg2rad(25 + 8 * np.cos(2 * np.pi * p)),
        }
    return curves


def motion(model: hd.Model | None = None, *, duration: float = 4.0, rate: float = 100.0) -> Motion:
    """The stroll with the lower of both feet on the ground, and markers 4 mm off."""
    model = model or hd.catalog.heiman(height=1.75, mass=70)
    time = np.arange(round(duration * rate) + 1) / rate
    q = np.tile(model.neutral(), (len(time), 1))
    for name, values in coordinates(time).items():
        q[:, model.coordinate_index(name)] = values
    lowest = np.min(
        [
            hd.dynamics.position(model, q, contact.name)[:, 2] - contact.radius
            for contact in model.contacts
        ],
        axis=0,
    )
    q[:, model.coordinate_index("Pelvis_TZ")] -= hd.capture.lowpass(lowest, rate, cutoff=8.0)
    v = np.gradient(q, time, axis=0, edge_order=2)
    a = np.gradient(v, time, axis=0, edge_order=2)
    rng = np.random.default_rng(5)
    placed = hd.dynamics.marker_positions(model, q)
    measured = placed + rng.normal(scale=0.0025, size=placed.shape)
    measured += rng.normal(scale=0.004, size=(1, placed.shape[1], 3))
    measured[40:75, 5] = np.nan
    names = tuple(marker.name for marker in model.markers)
    return Motion(
        model,
        time,
        q,
        v,
        a,
        names,
        measured,
        np.linalg.norm(measured - placed, axis=-1),
        np.ones(len(names)),
        np.full(len(time), FitStatus.CONVERGED, dtype=object),
        rng.integers(3, 8, len(time)),
        method="made of smooth curves",
    )


def events(duration: float = 4.0) -> tuple[Event, ...]:
    """Strikes and foot offs of the stroll."""
    found = []
    for side, shift in (("Right", 0.0), ("Left", 0.5)):
        for k in range(-1, int(duration / STRIDE) + 1):
            for label, part in (("Foot Strike", 0.0), ("Foot Off", 0.62)):
                time = (k + part - shift + 1) * STRIDE
                if 0 <= time <= duration:
                    found.append(Event(float(time), label, side, description="made"))
    return tuple(sorted(found, key=lambda event: event.time))


def plates(moved: Motion) -> tuple[ForcePlate, ...]:
    """A plate under each foot that reads what the motion needs."""
    made = []
    for k, foot in enumerate(hd.capture.predicted_forces(moved)):
        point = np.nan_to_num(foot.point)
        x = (-0.3, float(moved.q[-1, 0]) + 0.6)
        y = (-0.5, 0.0) if foot.side == "right" else (0.0, 0.5)
        corners = np.array([[x[1], y[1], 0], [x[0], y[1], 0], [x[0], y[0], 0], [x[1], y[0], 0]])
        made.append(
            ForcePlate(
                f"plate {k + 1}", moved.rate, foot.force, point, foot.torque, corners=corners
            )
        )
    return tuple(made)


def trial(moved: Motion, *, emg: bool = True, forces: bool = True) -> Trial:
    """What cameras, plates and EMG would have recorded of the stroll."""
    analog = Signals()
    if emg:
        rng = np.random.default_rng(8)
        rate = 1000.0
        time = np.arange(round(moved.time[-1] * rate)) / rate
        centres = {"TibAnt": 0.95, "Gastro": 0.42, "RectFem": 0.1, "BicFem": 0.9}
        names, columns = [], []
        for side, shift in (("R", 0.0), ("L", 0.5)):
            for muscle, centre in centres.items():
                loud = 0.02 + 0.3 * bump(time / STRIDE + shift, centre, 0.4)
                names.append(f"{side}_{muscle}")
                columns.append(loud * rng.normal(size=len(time)))
        analog = Signals(tuple(names), rate, np.column_stack(columns), ("mV",) * len(names))
    return Trial(
        "stroll",
        moved.markers,
        moved.measured,
        moved.rate,
        plates=plates(moved) if forces else (),
        analog=analog,
    )


def with_gap(recorded: Trial, marker: int, frames: slice) -> Trial:
    """The trial with a marker hidden for a while."""
    positions = np.array(recorded.positions)
    positions[frames, marker] = np.nan
    return replace(recorded, positions=positions)
