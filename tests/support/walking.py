"""A walk made of angles, seen by markers: what a clean recording looks like."""

from dataclasses import replace
from functools import cache

import numpy as np

from homodyn import catalog
from homodyn.capture import Trial
from homodyn.dynamics import marker_positions
from homodyn.model import Marker, Model


@cache
def walker() -> Model:
    """HeiMan with clusters of three on thighs, shanks and upper arms."""
    model = catalog.heiman(height=1.75, mass=70, sex="male")
    places = {"TH": ("Thigh", 0.22), "TB": ("Shank", 0.2), "UA": ("UpperArm", 0.12)}
    extra = []
    for letter, side in (("R", "Right"), ("L", "Left")):
        out = -1 if letter == "R" else 1
        for word, (body, down) in places.items():
            for k, (x, y, z) in enumerate([(0.06, 0.03, 0.05), (0.03, 0.06, -0.06), (-0.06, 0, 0)]):
                at = np.array([x, out * y, z - down])
                extra.append(Marker(f"{letter}{word}{k + 1}", f"{body}{side}", at))
    return replace(model, markers=(*model.markers, *extra))


def walk(
    seconds: float = 3.0, rate: float = 100.0, noise: float = 0.0, seed: int = 0, first: int = 1
) -> Trial:
    """Walking at 1.2 m/s with a step cycle of 1.1 s; noise in meters."""
    model = walker()
    time = np.arange(round(seconds * rate) + 1) / rate
    q = np.tile(model.neutral(), (len(time), 1))
    phase = 2 * np.pi * time / 1.1

    def move(name: str, values: np.ndarray) -> None:
        q[:, model.coordinate_index(name)] += values

    move("Pelvis_TX", 1.2 * time)
    move("Pelvis_TZ", 0.02 * np.cos(2 * phase))
    move("Pelvis_TY", 0.02 * np.sin(phase))
    move("Pelvis_RZ", 0.1 * np.sin(phase))
    move("Lumbar_RZ", -0.15 * np.sin(phase))
    move("Neck_RZ", 0.05 * np.sin(phase))
    for side, shift in (("Right", 0.0), ("Left", np.pi)):
        move(f"Hip{side}_RY", -0.1 + 0.4 * np.sin(phase + shift))
        move(f"Knee{side}_RY", 0.5 - 0.45 * np.cos(phase + shift + 0.5))
        move(f"Ankle{side}_RY", 0.2 * np.sin(phase + shift + 1.0) + 0.08 * np.sin(2 * phase))
        move(f"Shoulder{side}_RY", -0.4 * np.sin(phase + shift))
        move(f"Elbow{side}_RY", -0.4 - 0.15 * np.sin(phase + shift))
    positions = np.asarray(marker_positions(model, q))
    positions = positions + noise * np.random.default_rng(seed).normal(size=positions.shape)
    labels = tuple(marker.name for marker in model.markers)
    return Trial("walk", labels, positions, rate, first_frame=first)


def changed(trial: Trial, positions: np.ndarray) -> Trial:
    """The trial with other positions."""
    return replace(trial, positions=positions)
