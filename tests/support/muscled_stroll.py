"""The muscles of both legs of a walking person on straight lines, as an analysis has them."""

from dataclasses import replace

import numpy as np

import homodyn as hd
from homodyn.analysis import Analysis, MuscleSettings, analyze_muscles
from homodyn.capture import Signals
from homodyn.model.muscles import Muscle, PathPoint

KIND = "DeGrooteFregly2016Muscle"
LINES = {
    # muscle: body and place (forward, outward, up; m) of both ends, force (N), fibers (m)
    "psoas": ("Pelvis", (0.06, 0.05, 0.08), "Thigh", (0.03, 0, -0.1), 1500.0, 0.11),
    "glmax1": ("Pelvis", (-0.09, 0.05, 0.05), "Thigh", (-0.03, 0, -0.12), 1800.0, 0.13),
    "glmed1": ("Pelvis", (0.0, 0.12, 0.12), "Thigh", (0.0, 0.05, -0.02), 1800.0, 0.08),
    "addlong": ("Pelvis", (0.02, 0.02, -0.03), "Thigh", (0.0, 0, -0.2), 900.0, 0.12),
    "vaslat": ("Thigh", (0.05, 0.01, -0.15), "Shank", (0.05, 0, -0.05), 3500.0, 0.1),
    "recfem": ("Pelvis", (0.06, 0.08, 0.02), "Shank", (0.055, 0, -0.05), 1500.0, 0.1),
    "semimem": ("Pelvis", (-0.06, 0.07, 0.0), "Shank", (-0.04, 0, -0.06), 1600.0, 0.12),
    "gasmed": ("Thigh", (-0.03, 0.0, -0.41), "Foot", (-0.05, 0.0, -0.03), 2500.0, 0.09),
    "soleus": ("Shank", (-0.03, 0.0, -0.1), "Foot", (-0.05, 0.0, -0.03), 5000.0, 0.07),
    "tibant": ("Shank", (0.03, 0.0, -0.15), "Foot", (0.08, 0.0, -0.04), 1200.0, 0.09),
}


def with_muscles(model):
    """The model with the muscles of both legs, whose tendons fit its neutral pose."""
    muscles = []
    for side, sign in (("Right", -1.0), ("Left", 1.0)):
        for name, (first, start, second, end, force, fiber) in LINES.items():
            places = []
            for body, (x, y, z) in ((first, start), (second, end)):
                own = body if body == "Pelvis" else f"{body}{side}"
                places.append(PathPoint(f"{name}{body}", own, (x, sign * y, z)))
            muscles.append(
                Muscle(
                    f"{name}_{side[0].lower()}",
                    KIND,
                    tuple(places),
                    max_isometric_force=force,
                    optimal_fiber_length=fiber,
                )
            )
    loose = replace(model, muscles=tuple(muscles))
    rest = hd.muscle.lengths(loose, loose.neutral())
    fitted = tuple(
        replace(one, tendon_slack_length=max(float(length) - one.optimal_fiber_length, 0.02))
        for one, length in zip(muscles, rest, strict=True)
    )
    return replace(model, muscles=fitted)


def muscled_loads(analysis: Analysis):
    """The loads of an analysis on the body with muscles."""
    motion = replace(analysis.loads.motion, model=with_muscles(analysis.model))
    return replace(analysis.loads, motion=motion)


def envelopes_of(result, names, delay, sides=True):
    """EMG envelopes that precede the activations of muscles, scaled and smooth."""
    step = round(delay * 100.0)
    columns = [np.roll(2.5 * result.activations[:, result.muscle(name)], -step) for name in names]
    labels = tuple(name if sides else name[:-2] for name in names)
    rate = 1.0 / float(np.diff(result.time).mean())
    return Signals(labels, rate, np.column_stack(columns), start=float(result.time[0]))


def analyzed(analysis: Analysis, settings: MuscleSettings | None = None) -> Analysis:
    """An analysis with muscles and EMG that leads their activations by 40 ms."""
    settings = settings or MuscleSettings()
    loads = muscled_loads(analysis)
    free = hd.muscle.static_optimization(loads.motion, loads, settings.options())
    emg = envelopes_of(free, ("vaslat_r", "soleus_r", "tibant_l"), 0.04)
    sides = ("right", "right", "left")
    found = analyze_muscles(loads, settings, emg, sides, events=analysis.events)
    return replace(
        analysis,
        model=loads.motion.model,
        motion=replace(analysis.motion, model=loads.motion.model),
        loads=loads,
        emg=emg,
        emg_sides=sides,
        muscles=found,
        settings=replace(analysis.settings, muscles=settings),
    )
