"""Ground forces of recorded steps without their plates, compared with the plates.

Each recording is reconstructed twice: with the phases of plates, and with those of markers alone.
The table has the error of each foot and that of the plain estimate, mass times acceleration of the
center of mass, in % of body weight. Name recordings as FILE,FORCES[,STATIC[,MODEL[,LOADS]]], and
the mass as ``--mass`` where no model of the person is given:

    python examples/reconstruction_accuracy.py --mass 62.6 walk.trc,walk_grf.mot,static.trc
    python examples/reconstruction_accuracy.py walk.trc,walk_grf.mot,,scaled.osim,walk_grf.xml
"""

from __future__ import annotations

import argparse

import numpy as np

import homodyn as hd
from homodyn.analysis import Settings, read_motion
from homodyn.gait.reconstruction import ForceError, Reconstruction, prepare_step

HEADING = (
    "| recording | phases | foot | vertical | forward | plain vertical | plain forward | tracking |"
)


def reconstruct_recording(
    words: str, mass: float | None, plates: bool, force: float = 0.0
) -> Reconstruction:
    """The first measured step of a recording, its phases from plates or from markers alone."""
    walk, forces, static, model, loads = (*words.split(","), "", "", "", "")[:5]
    settings = Settings(
        model=model or "heiman",
        mass=mass,
        static=static or None,
        forces=forces,
        external_loads=loads or None,
        scale="none" if model else "auto",
    )
    recorded = read_motion(walk, settings)
    events = recorded.events if plates else tuple(hd.gait.find_events(recorded.motion))
    step = prepare_step(recorded.motion, recorded.loads, events=events)
    return hd.gait.reconstruct(
        step.motion, step.loads, phases=step.phases, step=0.02, preset="recorded", force=force
    )


def table_rows(name: str, source: str, result: Reconstruction) -> list[str]:
    """One row per foot."""
    largest = " and ".join(f"{e:.4f} {u}" for u, (_, e) in result.largest_errors.items())
    plain = {error.side: error for error in result.plain_force_errors()}
    return [
        f"| {name} | {source} | {error.side} | {_share(error, result, 2)} | "
        f"{_share(error, result, 0)} | {_share(plain[error.side], result, 2)} | "
        f"{_share(plain[error.side], result, 0)} | {largest} |"
        for error in result.force_errors()
    ]


def _share(error: ForceError, result: Reconstruction, axis: int) -> str:
    """Root mean square error in % of body weight."""
    return f"{100 * float(np.asarray(error.rms)[axis]) / result.weight:.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--mass", type=float)
    parser.add_argument("--tracked", action="store_true", help="use the plates as data")
    given = parser.parse_args()
    print(HEADING)
    print("|---|---|---|---|---|---|---|---|")
    for words in given.recordings:
        for plates in (True, False):
            force = 1.0 if given.tracked else 0.0
            result = reconstruct_recording(words, given.mass, plates, force)
            source = "plates" if plates else "markers"
            print("\n".join(table_rows(words.split(",")[0], source, result)), flush=True)


if __name__ == "__main__":
    main()
