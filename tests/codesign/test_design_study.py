"""Design studies: checks before simulation, broken candidates, and searches that can be resumed."""

import os
from dataclasses import replace

import numpy as np
import pytest

from homodyn.codesign import DesignStudy, DesignVerdict
from homodyn.codesign.design_study import WORST_OBJECTIVE, default_optimizer, walking_value
from homodyn.codesign.search_outcome import refine_design, search_outcome
from homodyn.codesign.walking import Walker, WalkingOutcome
from homodyn.errors import HomodynError
from homodyn.search import MMPSO, Study


def test_rejected_candidates_are_not_simulated_and_rank_by_table_5_3(
    study, candidates, monkeypatch
):
    values, groups = (np.repeat(one[:1], 3, axis=0) for one in candidates)
    names = study.space.names
    values[1, names.index("joint 4 z")] = 0.1  # a bar of about 0.9 m
    values[2, names.index("joint 6 x")] = 0.0  # in line with thigh and shank
    values[2, names.index("joint 6 z")] = 0.55
    simulated = []
    original = Walker.simulate

    def count(self, batch, *rest, **options):
        simulated.append(len(next(iter(batch.values()))))
        return original(self, batch, *rest, **options)

    monkeypatch.setattr(Walker, "simulate", count)
    found = study.evaluate(values, groups)
    assert found.verdicts[:2] == (DesignVerdict.ACCEPTED, DesignVerdict.BAR_TOO_LONG)
    assert found.verdicts[2] in (DesignVerdict.SINGULAR, DesignVerdict.UNREACHABLE)
    assert simulated == [1]
    assert found.simulated.tolist() == [True, False, False]
    objectives = found.objectives
    assert objectives["segment_size"][1] > 0.7
    assert objectives["singularity"][0] == 0 < objectives["singularity"][2]
    assert objectives["time"][1:].tolist() == [0, 0]
    assert objectives["power"][1:].tolist() == [WORST_OBJECTIVE, WORST_OBJECTIVE]


def test_a_broken_simulation_never_counts_as_an_evaluation(study, candidates, tmp_path):
    """A candidate whose numbers leave the range of numbers is planted among others."""
    values, groups = (one[:4].copy() for one in candidates)
    values[2, study.space.names.index("ankle target y2")] = 1e200
    found = study.evaluate(values, groups)
    assert found.broken.tolist() == [False, False, True, False]
    assert found.simulated.tolist() == [True, True, False, True]
    rows = study.evaluate_batch(values, groups)
    assert np.isnan(rows[2]).all()
    assert np.isfinite(rows[[0, 1, 3]]).all()


class PlantedStudy(DesignStudy):
    """A study whose first candidate always breaks."""

    def evaluate_batch(self, values, structure):
        # Workers have the environment of the process that started their server, maybe another test.
        os.environ["HOMODYN_TIER"] = "interpreted"
        rows = super().evaluate_batch(values, structure)
        rows[0] = np.nan
        return rows


def test_a_search_counts_outcomes_and_resumes_to_the_bit(study, candidates, tmp_path):
    fields = {name: getattr(study, name) for name in study.__dataclass_fields__}
    planted = PlantedStudy(**{**fields, "optimizer": MMPSO(population=8), "iterations": 4})
    values, groups = candidates
    first = [
        {
            **dict(zip(study.space.names, values[k].tolist(), strict=True)),
            "robot": study.designs.groups[int(groups[k, 0])].name,
        }
        for k in range(3)
    ]
    whole = planted.search(3, database=tmp_path / "whole.db", solutions=first)
    planted.search(3, database=tmp_path / "parts.db", solutions=first, iterations=2)
    options = {"solutions": first, "where": "pool", "workers": 1}  # Another process, equal bits.
    resumed = planted.search(3, database=tmp_path / "parts.db", **options)
    assert whole.study.fingerprint() == resumed.study.fingerprint()

    outcome = search_outcome(planted, Study.open(tmp_path / "whole.db"))
    assert outcome.candidates == 32
    assert outcome.counts["broken"] == whole.failed == 4
    assert outcome.evaluations == sum(
        outcome.counts[k] for k in ("falls", "does not walk", "walks")
    )
    assert 0 < outcome.evaluations < 32
    assert sum(outcome.visits.values()) == 32
    assert list(outcome.best) == [2]
    assert outcome.best[2].stage == whole.best.stage

    best = whole.best
    refined = refine_design(study, best.parameters, best.structure, iterations=1, population=3)
    assert refined.group == best.structure["robot"]
    assert refined.stage >= best.stage


def test_walking_needs_speed_and_no_assistance():
    numbers = np.array([1.3, 1.3, 1.0, 1.5, np.nan])
    shares = np.array([0.1, 0.2, 0.0, 0.0, np.nan])
    zeros = np.zeros(5)
    outcome = WalkingOutcome(zeros, numbers, shares, zeros, zeros, zeros > 0)
    found = walking_value(outcome, 1.3)
    assert found[0] == 1
    assert found[4] == 0
    assert found[1] == pytest.approx(0.8 / 0.9)
    assert found[2] == pytest.approx(1.0 / 1.3 / 0.95)
    assert found[3] == pytest.approx(1.3 / 1.5 / 0.95)


def test_the_published_swarm_explores_and_then_converges():
    curves = default_optimizer().probabilities(800)
    assert curves[0, 0] == pytest.approx(0.05, abs=1e-3)
    assert curves[-1, 0] < 1e-3
    assert curves[400, 2] < 1e-3 < 0.09 < curves[-1, 2]


def test_wrong_studies_are_refused(study):
    with pytest.raises(HomodynError, match="objective 'speed'"):
        replace(study, objective="speed")
    with pytest.raises(HomodynError, match="topology with a pair"):
        replace(study, topologies=())
    with pytest.raises(HomodynError, match="iterations"):
        replace(study, iterations=0)
