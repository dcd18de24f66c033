"""A robot that was found: mass and shift of the center of mass by own sums, drawings, and pages."""

import numpy as np
import pytest

from homodyn.codesign.design_drawing import draw_design, last_cycle
from homodyn.codesign.design_solution import solve_design
from homodyn.errors import HomodynError
from homodyn.report.design_study_folder import (
    design_study_page,
    design_summary,
    write_design_solution,
)


@pytest.fixture(scope="module")
def solution(study, candidates):
    values, groups = (one[2] for one in candidates)
    parameters = dict(zip(study.space.names, values.tolist(), strict=True))
    return solve_design(study, parameters, {"robot": study.designs.groups[int(groups[0])].name})


def test_mass_center_and_bars_are_sums_over_parts(solution):
    """Every bar and pin by hand, for the heights of a person of 1.80 m."""
    design, topology = solution.design, solution.design.topology
    ends = {1: (0.954, 0.954 + 0.288 * 1.8), 2: (0.513, 0.954), 3: (0.039 * 1.8, 0.513)}
    at = {
        k: np.array([0.0, low + design.shares[k - 1] * (high - low)])
        for k, (low, high) in ends.items()
    }
    at |= dict(zip(topology.free_joints, design.free_places, strict=True))
    at |= {second: at[first] for first, second in topology.shared_pins}
    mass, moment, lengths = 0.0, np.zeros(2), []
    for link in topology.linkage.robot_links:
        on = [k for k, pair in enumerate(topology.linkage.joints, start=1) if link in pair]
        for i, a in enumerate(on):
            for b in on[i + 1 :]:
                length = np.linalg.norm(at[a] - at[b])
                lengths.append(length)
                mass += 0.7 * length
                moment += 0.7 * length * (at[a] + at[b]) / 2
    for number, place in at.items():
        own = 2.0 if number in design.actuated else 0.5
        mass += own
        moment += own * place
    person = np.array([0.0, 0.954]) + _center_above_hip(solution)
    shift = (70 * person + 2 * moment) / (70 + 2 * mass) - person
    assert solution.robot_mass == pytest.approx(2 * mass, rel=1e-9)
    assert solution.bars == pytest.approx((min(lengths), max(lengths)), rel=1e-9)
    assert solution.center_shift == pytest.approx(tuple(shift), abs=1e-9)


def _center_above_hip(solution):
    from homodyn.dynamics import center_of_mass, position

    person = solution.study.person
    q = person.neutral()
    hip = position(person, q, "left_thigh")
    return (np.asarray(center_of_mass(person, q)) - hip)[[0, 2]]


def test_a_walk_shorter_than_a_cycle_has_no_drawing(solution):
    with pytest.raises(HomodynError, match="no complete cycle"):
        last_cycle(solution)
    assert last_cycle(solution, 0.1) == pytest.approx((0.1, 0.2))


def test_drawings_have_all_bars_and_ring_the_actuators(solution, monkeypatch):
    monkeypatch.setattr("homodyn.codesign.design_drawing.last_cycle", lambda one: (0.0, 0.1))
    axes = draw_design(solution, poses=2)
    rings = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert len(rings) == 2 * 2
    lengths = [
        np.hypot(*np.ptp(line.get_xydata(), axis=0))
        for line in axes.lines
        if len(line.get_xdata()) == 2
    ]
    for bar in solution.bars:
        assert np.abs(np.array(lengths) - bar).min() < 1e-3


def test_the_page_and_the_numbers(solution, tmp_path):
    page = design_study_page(solution)
    assert "table 5.4" in page
    assert "1018" in page
    summary = design_summary(solution)
    assert summary["robot_mass_kg"] == pytest.approx(solution.robot_mass)
    assert set(summary["cuff_forces_n"]) == {
        f"{side} {segment}" for side in ("left", "right") for segment in ("torso", "thigh", "shank")
    }
    files = write_design_solution(solution, tmp_path / "robot")
    assert all(path.is_file() for path in files)


def test_rejected_designs_have_a_reason_and_no_page(study, candidates, tmp_path):
    values, groups = (one[0] for one in candidates)
    parameters = dict(zip(study.space.names, values.tolist(), strict=True)) | {"joint 4 z": 0.1}
    name = study.designs.groups[int(groups[0])].name
    rejected = solve_design(study, parameters, {"robot": name})
    assert "exceeds 0.7 m" in rejected.sentence
    assert (rejected.result, rejected.motors, rejected.cuffs) == (None, (), None)
    with pytest.raises(HomodynError, match="no simulation to report"):
        write_design_solution(rejected, tmp_path / "none")
    with pytest.raises(HomodynError, match="group of a design is needed"):
        solve_design(study, parameters, {})
