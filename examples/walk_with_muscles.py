"""Muscles of a recorded walk by optimal control: of the walk as it is, and of one near to it.

    python examples/walk_with_muscles.py FOLDER

FOLDER contains a model of ten degrees of freedom with 18 muscles (``subject01.osim``), the
coordinates of a walk (``ref_ik.mot``) and its ground forces (``walk_grf.mot`` with
``walk_grf.xml``). The muscles are those of the file with the smooth curves of De Groote and Fregly
and rigid tendons.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import homodyn as hd
import homodyn.optimal as oc
from homodyn.muscle.models import DeGrooteFregly2016

STRIDE = (0.5, 1.625)
"""Begin and end of a stride (s)."""
INTERVALS = 50
RESERVES = {"lumbar_extension": 100.0}
"""Strength (N m) of the reserve of the joint without muscles; others have the default."""


def read_walk(folder: Path) -> tuple[hd.motion.Motion, hd.motion.Loads]:
    """The walk, filtered at 6 Hz, and its torques under the measured ground forces."""
    model = hd.load(folder / "subject01.osim", as_measured=True)
    table = hd.capture.read_table(folder / "ref_ik.mot")
    motion = hd.capture.filter_motion(hd.capture.motion_from_table(model, table), cutoff=6.0)
    plates = hd.capture.read_plates(folder / "walk_grf.mot", setup=folder / "walk_grf.xml", up="y")
    return motion, hd.capture.inverse_dynamics(motion, plates, cutoff=None)


def options(intervals: int = INTERVALS) -> oc.MuscleProblemOptions:
    """A stride, rigid tendons, and reserves of the joints."""
    drive = oc.MuscleDrive(tendon="rigid", muscle_model=DeGrooteFregly2016(), wrapping="opensim")
    return oc.MuscleProblemOptions(drive=drive, span=STRIDE, intervals=intervals, reserves=RESERVES)


def summary(solution: oc.Solution) -> str:
    """Largest activation and mean of each muscle, and the largest reserves."""
    motion, (phase,) = solution.motion, solution.phases
    lines = [solution.sentence]
    for k, muscle in enumerate(solution.model.muscles):
        level = motion.activations[:, k]
        lines.append(f"  {muscle.name:14} largest {level.max():.2f}, mean {level.mean():.2f}")
    for k, name in enumerate(solution.model.coordinate_names):
        lines.append(f"  {name:16} reserve at most {np.abs(phase.tau[:, k]).max():.1f}")
    return "\n".join(lines)


def main(folder: Path) -> None:
    """Solve both problems and print what the muscles do."""
    motion, loads = read_walk(folder)
    given = oc.muscle_inverse_problem(motion, loads, options()).solve("collocation")
    print("The walk as it is:", summary(given), sep="\n")
    near = oc.muscle_tracking_problem(motion, loads, options()).solve("collocation")
    print("Near to it:", summary(near), sep="\n")
    at = STRIDE[0] + near.motion.time
    known = np.column_stack([np.interp(at, motion.time, column) for column in motion.q.T])
    print(f"Deviation of coordinates: {np.abs(near.motion.q - known).max():.4f} (rad, m)")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
