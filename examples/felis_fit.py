"""Marker errors of models fitted to the recordings of their own and of another subject.

Felis (2015, section 6.2, figure 6.1) built models of two subjects and fitted each to the recordings
of both. Here the recordings are synthetic: two bodies with the lengths of his table 6.1 and with
individual marker placement walk, and the markers have noise. Each model gets its markers from one
frame of its own subject, by his eq. 4.8, and is fitted to its own walk (congruent) and to that of
the other subject (incongruent), by his method.

The thesis does not state the placement error of markers. A standard deviation of 1 cm was chosen
because it gives the 2 cm that he found between subjects; the lengths alone give 0.9 cm. Run it to
get the figure::

    python examples/felis_fit.py felis_fit.png
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import homodyn as hd
from homodyn.capture import Trial
from homodyn.catalog.heiman import SUBJECTS
from homodyn.motion import Motion

RATE = 100.0
"""Frames per second (Hz)."""
NOISE = (0.0004, 0.006)
"""Smallest and largest standard deviation (m) of the noise of a marker."""
PLACEMENT = 0.01
"""Standard deviation (m) of the placement error of a marker along each axis."""
STRIDE = 1.1
"""Stride duration (s)."""
SPEED = 1.3
"""Walking speed (m/s)."""


@dataclass(frozen=True)
class Fit:
    """One model fitted to the markers of one subject."""

    model: str
    subject: str
    motion: Motion

    @property
    def marker_means(self) -> np.ndarray:
        """Mean residual of each marker (cm)."""
        return 100 * self.motion.residual.mean(0)

    @property
    def frame_means(self) -> np.ndarray:
        """Mean residual in each frame (cm)."""
        return 100 * self.motion.residual.mean(1)


def subject(name: str, seed: int) -> hd.Model:
    """The body of a subject, with random placement errors of the markers."""
    body = hd.catalog.heiman(**SUBJECTS[name])
    rng = np.random.default_rng(seed)
    markers = [
        replace(marker, position=marker.position + PLACEMENT * rng.normal(size=3))
        for marker in body.markers
    ]
    return replace(body, markers=tuple(markers))


def assign_markers(body: hd.Model, trial: Trial) -> hd.Model:
    """The model of a subject: known lengths, and markers assigned from the first frame."""
    plain = replace(body, markers=tuple(replace(m, position=np.zeros(3)) for m in body.markers))
    return hd.capture.assign_markers(plain, walking_poses(body, 1)[0], trial, frame=0)


def walking_poses(model: hd.Model, frames: int) -> np.ndarray:
    """Poses of a steady walk: legs and arms swing in opposite directions, the pelvis rotates."""
    time = np.arange(frames) / RATE
    phase = 2 * np.pi * time / STRIDE
    q = np.tile(model.neutral(), (frames, 1))

    def add(name: str, values: np.ndarray) -> None:
        q[:, model.coordinate_index(name)] += values

    add("Pelvis_TX", SPEED * time)
    add("Pelvis_TZ", 0.02 * np.cos(2 * phase) - 0.03)
    add("Pelvis_RZ", 0.08 * np.sin(phase))
    add("Pelvis_RX", 0.04 * np.sin(phase))
    for side, ahead in (("Right", 0.0), ("Left", np.pi)):
        swing = phase + ahead
        add(f"Hip{side}_RY", -0.1 - 0.42 * np.cos(swing))
        add(f"Knee{side}_RY", 0.35 - 0.33 * np.cos(swing - 2.0) + 0.1 * np.cos(2 * swing))
        add(f"Ankle{side}_RY", -0.05 + 0.2 * np.sin(swing))
        add(f"Shoulder{side}_RY", 0.3 * np.cos(swing))
        add(f"Elbow{side}_RY", -0.4 + 0.15 * np.cos(swing))
    return hd.model.configuration.clamp(model, q)


def recording(model: hd.Model, frames: int, seed: int) -> Trial:
    """A recording of the walk; the noise level differs between markers."""
    rng = np.random.default_rng(seed)
    exact = hd.dynamics.marker_positions(model, walking_poses(model, frames))
    deviation = rng.uniform(*NOISE, size=len(model.markers))
    measured = exact + deviation[:, None] * rng.normal(size=exact.shape) / np.sqrt(3)
    return Trial(f"walk of {model.name}", tuple(m.name for m in model.markers), measured, RATE)


def experiment(frames: int) -> list[Fit]:
    """Fit both models to both recordings, by the method of Sugihara from the neutral pose."""
    bodies = {name: subject(name, seed) for seed, name in enumerate(("Subject1", "Subject3"))}
    trials = {name: recording(body, frames, 2) for name, body in bodies.items()}
    models = {name: assign_markers(body, trials[name]) for name, body in bodies.items()}
    fits = []
    for name, trial in trials.items():
        for other, model in models.items():
            motion = hd.capture.inverse_kinematics(
                model, trial, method="sugihara", start=model.neutral(), limits=False
            )
            fits.append(Fit(other, name, motion))
    return fits


def figure(fits: list[Fit], path: Path) -> None:
    """Draw residuals per marker and per frame, and iterations, as in figure 6.1 of the thesis."""
    drawing, axes = plt.subplots(3, 2, figsize=(13, 10), layout="constrained", sharey="row")
    for column, name in enumerate(("Subject1", "Subject3")):
        top, middle, bottom = axes[:, column]
        pair = sorted((f for f in fits if f.subject == name), key=lambda f: f.model != name)
        for shift, fit in enumerate(pair):
            own = fit.model == name
            label = f"model of {fit.model}, {'congruent' if own else 'incongruent'}"
            color = "#2b6ca3" if own else "#c8553d"
            labels = fit.motion.markers
            place = np.arange(len(labels)) + 0.4 * shift
            top.bar(place, fit.marker_means, 0.4, color=color, label=label)
            middle.plot(fit.motion.time, fit.frame_means, color=color, label=label)
            bottom.plot(fit.motion.time[1:], fit.motion.iterations[1:], color=color, label=label)
        top.set_xticks(np.arange(len(labels)) + 0.2, labels, rotation=90, fontsize=7)
        top.set_title(f"walk of {name}")
        top.legend(loc="upper center", ncols=2, fontsize=8)
        top.set_ylim(0, 4.5)
        bottom.set_xlabel("time (s)")
    for row, text in zip(
        axes[:, 0], ("mean error of a marker (cm)", "mean error (cm)", "iterations"), strict=True
    ):
        row.set_ylabel(text)
    drawing.savefig(path, dpi=110)
    plt.close(drawing)


def main(path: str | Path | None = None, frames: int = 110) -> list[Fit]:
    """Run the experiment, print a table and draw the figure if a path is given."""
    fits = experiment(frames)
    print("model     walk of   mean (cm)  spread of means (cm)  largest (cm)  iterations")
    for fit in fits:
        iterations = fit.motion.iterations[1:].mean()
        print(
            f"{fit.model:9} {fit.subject:9} {fit.marker_means.mean():9.2f} "
            f"{fit.marker_means.std():21.2f} {100 * fit.motion.residual.max():13.2f} "
            f"{iterations:11.1f}"
        )
    if path is not None:
        figure(fits, Path(path))
    return fits


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
