"""Ground forces of recorded steps compared with the plates, with and without their help.

Each recording is reconstructed from its markers alone, with the phases of plates, and with the
plates as data. The table has the error of each foot, of both feet together and of the plain
estimate, mass times acceleration of the center of mass, in % of body weight. Name recordings as
FILE,FORCES[,STATIC[,MODEL[,LOADS]]]; ``--mass`` gives their masses in the same order, or one for
all, where no model of the person is given:

    python examples/reconstruction_accuracy.py --mass 62.6 walk.trc,walk_grf.mot,static.trc
    python examples/reconstruction_accuracy.py walk.trc,walk_grf.mot,,scaled.osim,walk_grf.xml
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import homodyn as hd
from homodyn.analysis import RecordedMotion, Settings, read_motion
from homodyn.gait.reconstruction import ForceError, Reconstruction, prepare_step

HEADING = (
    "| recording | plates | foot | vertical | forward | plain vertical | plain forward | tracking "
    "| status |"
)
USES = {"none": (False, 0.0), "phases": (True, 0.0), "phases and forces": (True, 1.0)}
"""What is used of the plates: their foot strikes and foot offs, and the weight of their forces."""


def read_recording(words: str, mass: float | None) -> RecordedMotion:
    """The fitted movement of a recording, with the forces of its plates."""
    walk, forces, static, model, loads = (*words.split(","), "", "", "", "")[:5]
    settings = Settings(
        model=model or "heiman",
        mass=mass,
        static=static or None,
        forces=forces,
        external_loads=loads or None,
        scale="none" if model else "auto",
    )
    return read_motion(walk, settings)


def reconstruct_recording(
    recorded: RecordedMotion, use: str, *, friction: float | None = None
) -> Reconstruction:
    """The first step of a recording that the plates measured."""
    with_phases, force = USES[use]
    events = recorded.events if with_phases else tuple(hd.gait.find_events(recorded.motion))
    step = prepare_step(recorded.motion, recorded.loads, events=events)
    return hd.gait.reconstruct(
        step.motion,
        step.loads,
        phases=step.phases,
        preset="recorded",
        force=force,
        friction=friction,
    )


def table_rows(name: str, use: str, result: Reconstruction) -> list[str]:
    """One row per foot, and one for both."""
    largest = " and ".join(f"{e:.4f} {u}" for u, (_, e) in result.largest_errors.items())
    plain = {error.side: error for error in result.plain_force_errors()}
    return [
        f"| {name} | {use} | {error.side} | {_share(error, result, 2)} | "
        f"{_share(error, result, 0)} | {_share(plain[error.side], result, 2)} | "
        f"{_share(plain[error.side], result, 0)} | {largest} | {result.status} |"
        for error in result.force_errors()
    ]


def _share(error: ForceError, result: Reconstruction, axis: int) -> str:
    """Root mean square error in % of body weight."""
    return f"{100 * float(np.asarray(error.rms)[axis]) / result.weight:.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--mass", help="kg; one for all, or one per recording: 62.6,62.6,,85")
    parser.add_argument("--friction", type=float, help="coefficient of friction of the ground")
    given = parser.parse_args()
    masses = [float(word) if word else None for word in (given.mass or "").split(",")]
    if len(masses) == 1:
        masses *= len(given.recordings)
    if len(masses) != len(given.recordings):
        parser.error(f"{len(masses)} masses for {len(given.recordings)} recordings")
    print(HEADING)
    print("|---|---|---|---|---|---|---|---|---|")
    for words, mass in zip(given.recordings, masses, strict=True):
        recorded = read_recording(words, mass)
        for use in USES:
            result = reconstruct_recording(recorded, use, friction=given.friction)
            name = Path(words.split(",")[0]).stem
            print("\n".join(table_rows(name, use, result)), flush=True)


if __name__ == "__main__":
    main()
