"""Forces of a recorded walk from markers alone, compared with its plates."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location(
    "walk_without_plates",
    Path(__file__).resolve().parents[2] / "examples" / "walk_without_plates.py",
)
example = importlib.util.module_from_spec(SPEC)


def test_forces_of_a_real_walk_without_its_plates(shared_data, tmp_path):
    sys.modules[SPEC.name] = example  # dataclasses look their module up
    SPEC.loader.exec_module(example)
    lines: list[str] = []
    figure = example.run(shared_data / "gait10dof", tmp_path / "out", lines.append)
    text = "\n".join(lines)
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert float(re.search(r"belt runs at (\S+)", text)[1]) == pytest.approx(1.14, abs=0.05)
    assert "\nsolved:" in text
    errors = {
        side: [float(x) for x in re.search(rf"{side}: (\S+) % forward, (\S+) %", text).groups()]
        for side in ("Right", "Left", "both")
    }
    # Measured when it was written: 7.1 and 13.8, 5.4 and 10.9, 9.5 and 16.5 % of the weight.
    for side, (forward, upward) in errors.items():
        assert forward < 12, side
        assert upward < 20, side
    assert errors["Right"][1] > 1  # a prediction, not the plates themselves
