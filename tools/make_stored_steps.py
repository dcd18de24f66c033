"""Make the stored steps that ``homodyn synthesize`` begins from.

The synthetic walk of ``hd.synthetic.walking_trial`` is reconstructed over one step; the first
periodic step is the one nearest to it; the five objectives of Felis (2015) at free speed and the
mixed one at 1.5, 2.0 and 2.5 m/s follow from there. Run it after a change of the problem::

    python tools/make_stored_steps.py src/homodyn/gait/synthesis/stored_steps.npz

Steps that are in the file already are where their own search begins; without the file it begins at
the walk. Names of steps after the file, such as "mixed 1.5", recompute only these. The ground has
the friction of ``hd.gait.synthesis.GROUND_FRICTION``.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import homodyn as hd
from homodyn.gait import synthesis
from homodyn.gait.synthesis.step_library import read_stored_steps, write_stored_steps

SPEEDS = (1.5, 2.0, 2.5)
HEIGHT, MASS = 1.79, 76.0


def walk() -> synthesis.StoredStep:
    """One step of the synthetic walk as it can have been, its pelvis above the origin at first."""
    created = hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=MASS, height=HEIGHT
    )
    motion = replace(created.truth.motion, model=hd.gait.walking_model(HEIGHT, MASS))
    found = hd.gait.reconstruct(motion, created.truth.loads, events=created.truth.events, step=0.03)
    if not found.solution.status.success:
        raise SystemExit(found.solution.explain())
    phases = []
    for phase in found.solution.phases:
        q = phase.q.copy()
        q[:, :2] -= found.solution.phases[0].q[0, :2]
        phases.append(replace(phase, q=q))
    lasting = float(phases[-1].time[-1])
    length = float(phases[-1].q[-1, 0])
    return synthesis.StoredStep(
        "walk",
        tuple(phases),
        {"length": length, "speed": length / lasting},
        None,
        status=str(found.solution.status),
    )


def main(path: str, *names: str) -> None:
    """Seek all steps, with more intervals until they are what their nodes say; store each."""
    steps = read_stored_steps(path) if Path(path).exists() else {}
    if "walk" not in steps:
        steps["walk"] = walk()
        write_stored_steps(path, steps)
    wanted = [
        ("mixed", None),
        *((name, None) for name in synthesis.WALKING_OBJECTIVES if name != "mixed"),
    ]
    wanted += [("mixed", speed) for speed in SPEEDS]
    for name, speed in wanted:
        key = f"{name} {'free' if speed is None else f'{speed:g}'}"
        if names and key not in names:
            continue
        near = [s for s in steps.values() if s.objective == synthesis.WALKING_OBJECTIVES["mixed"]]
        begin = min(near, key=lambda s: abs(s.speed - (speed or 1.4)), default=steps["walk"])
        begin = steps.get(key, begin)
        options = hd.gait.SynthesisOptions(max_iterations=1500, progress=print)
        found = synthesis.synthesize_step(speed=speed, objective=name, start=begin, options=options)
        print(found.sentence, f"between nodes {found.solution.max_defect:.4f}", flush=True)
        if found.solution.status.success:
            steps[key] = found.step
            write_stored_steps(path, steps)
        else:
            print(f"{key} is not stored: {found.explain()}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
