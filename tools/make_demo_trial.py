"""Write the bundled demonstration trial with its truth: python tools/make_demo_trial.py."""

from pathlib import Path

import homodyn
from homodyn.synthetic import (
    walking_trial,
    write_trial,
)

FOLDER = Path(homodyn.__file__).parent / "synthetic" / "demo_trial"


def main() -> None:
    """Write a walk over three plates by a person whose segments match no table."""
    synthetic = walking_trial(height=1.78, mass=74.0, strides=3, gaps=0.01, noise=0.001, seed=7)
    for path in write_trial(synthetic, FOLDER, overwrite=True):
        print(path.relative_to(FOLDER), path.stat().st_size)


if __name__ == "__main__":
    main()
