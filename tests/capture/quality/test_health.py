"""Clean recordings give no findings; each planted fault is found where it was planted."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.capture import (
    Trial,
    check_health,
    read,
)
from homodyn.foundation.findings import Severity
from homodyn.motion import ForcePlate
from support.walking import changed, walk, walker

FIRST = 41
FRAMES = 201
CLEAN = {noise: walk(2.0, noise=noise, seed=7, first=FIRST) for noise in (0.0, 0.0005)}
LABELS = CLEAN[0.0].markers

noises = st.sampled_from(sorted(CLEAN))
markers = st.integers(0, len(LABELS) - 1)
places = st.integers(6, FRAMES - 80)
lengths = st.integers(1, 60)
seeds = st.integers(0, 2**32 - 1)


def direction(seed: int) -> np.ndarray:
    vector = np.random.default_rng(seed).normal(size=3)
    return vector / np.linalg.norm(vector)


def told(trial: Trial, model=None) -> dict[str, list[tuple[tuple[str, ...], tuple]]]:
    """Markers and frames of all findings, by kind."""
    found: dict = {}
    for finding in check_health(trial, model=model).findings:
        found.setdefault(finding.subject, []).append((finding.markers, finding.frames))
    return found


@pytest.mark.parametrize("rate", [50, 100, 250])
@pytest.mark.parametrize("noise", [0.0, 0.0005, 0.002])
def test_clean_walking_gives_no_findings(rate, noise):
    trial = walk(rate=rate, noise=noise, seed=rate)
    assert check_health(trial).findings == ()
    assert check_health(trial, model=walker()).findings == ()


def test_standing_still_gives_no_findings():
    still = np.repeat(CLEAN[0.0].positions[:1], 200, axis=0)
    assert told(Trial("static", LABELS, still, 100.0)) == {}


def test_bending_the_knees_after_standing_is_no_wrong_label():
    clean = CLEAN[0.0].positions
    still = np.repeat(clean[:1], 400, axis=0)
    trial = Trial("stand and go", LABELS, np.concatenate([still, clean]), 100.0)
    assert set(told(trial)) <= {"spike", "jump"}


@settings(max_examples=10)
@given(noises, markers, places, lengths)
def test_gaps_are_listed_with_their_frames(noise, marker, place, length):
    positions = np.array(CLEAN[noise].positions)
    positions[place : place + length, marker] = np.nan
    trial = changed(CLEAN[noise], positions)
    frames = ((FIRST + place, FIRST + place + length - 1),)
    assert told(trial) == {"gap": [((LABELS[marker],), frames)]}
    row = check_health(trial).markers[marker]
    assert row.gaps == frames
    assert row.missing == pytest.approx(length / FRAMES)
    severity = check_health(trial).findings[0].severity
    assert severity is (Severity.WARNING if length > 20 else Severity.INFO)


@settings(max_examples=15)
@given(noises, markers, st.integers(0, FRAMES - 1), st.floats(0.05, 1.0), seeds)
def test_spikes_are_found_at_their_frame(noise, marker, place, size, seed):
    positions = np.array(CLEAN[noise].positions)
    positions[place, marker] += size * direction(seed)
    expected = {"spike": [((LABELS[marker],), ((FIRST + place, FIRST + place),))]}
    assert told(changed(CLEAN[noise], positions)) == expected


@settings(max_examples=15)
@given(noises, markers, places, st.floats(0.05, 1.0), seeds)
def test_jumps_are_found_at_their_frame(noise, marker, place, size, seed):
    positions = np.array(CLEAN[noise].positions)
    positions[place:, marker] += size * direction(seed)
    found = told(changed(CLEAN[noise], positions))
    assert found["jump"] == [((LABELS[marker],), ((FIRST + place, FIRST + place),))]
    assert set(found) <= {"jump", "mislabel"}
    assert all(who == (LABELS[marker],) for who, _ in found.get("mislabel", []))


def pairs_apart():
    apart = np.linalg.norm(CLEAN[0.0].positions[:, :, None] - CLEAN[0.0].positions[:, None], axis=3)
    nearest = apart.min(axis=0)
    return [(a, b) for a, b in zip(*np.nonzero(nearest > 0.06), strict=True) if a < b]


@settings(max_examples=15)
@given(noises, st.sampled_from(pairs_apart()), places, lengths)
def test_swaps_for_a_while_are_one_finding(noise, pair, place, length):
    positions = np.array(CLEAN[noise].positions)
    span = slice(place, place + length)
    positions[span, list(pair)] = positions[span, list(pair[::-1])]
    names = tuple(LABELS[k] for k in pair)
    frames = ((FIRST + place, FIRST + place + length - 1),)
    assert told(changed(CLEAN[noise], positions)) == {"swap": [(names, frames)]}


@settings(max_examples=10)
@given(noises, st.sampled_from(pairs_apart()), places)
def test_swaps_for_good_last_to_the_end(noise, pair, place):
    positions = np.array(CLEAN[noise].positions)
    positions[place:, list(pair)] = positions[place:, list(pair[::-1])]
    found = [
        f for f in check_health(changed(CLEAN[noise], positions)).findings if f.subject == "swap"
    ]
    assert len(found) == 1
    assert found[0].frames == ((FIRST + place, FIRST + FRAMES - 1),)
    assert "for good" in found[0].sentence


@pytest.mark.parametrize("missing", [1, 4, 8])
def test_labels_exchanged_while_out_of_sight_are_a_swap(missing):
    positions = np.array(CLEAN[0.0005].positions)
    pair = [LABELS.index("RHEE"), LABELS.index("LELB")]
    positions[90:, pair] = positions[90:, pair[::-1]]
    positions[90 - missing : 90, pair] = np.nan
    found = told(changed(CLEAN[0.0005], positions))
    assert set(found) == {"swap", "gap"}
    assert found["swap"] == [(("RHEE", "LELB"), ((FIRST + 90, FIRST + FRAMES - 1),))]


@settings(max_examples=12)
@given(noises, markers, places, st.integers(3, 60), seeds)
def test_labels_on_a_wrong_point_are_found_by_distance(noise, marker, place, length, seed):
    """The label leaves its marker for a phantom that moves along elsewhere on the body."""
    trial = CLEAN[noise]
    others = np.flatnonzero(
        np.linalg.norm(trial.positions[0] - trial.positions[0, marker], axis=1) > 0.3
    )
    other = np.random.default_rng(seed).choice(others)
    positions = np.array(trial.positions)
    phantom = positions[:, other] + 0.02 * direction(seed)
    positions[place : place + length, marker] = phantom[place : place + length]
    found = told(changed(trial, positions), walker())
    frames = ((FIRST + place, FIRST + place + length - 1),)
    assert found["mislabel"] == [((LABELS[marker],), frames)]
    assert set(found) <= {"mislabel", "jump"}


@settings(max_examples=10)
@given(noises, st.sampled_from([k for k, label in enumerate(LABELS) if label[1:3] in ("TB", "TH")]))
def test_creeping_markers_drift(noise, marker):
    positions = np.array(CLEAN[noise].positions)
    # Away from the other markers of the segment.
    row = check_health(CLEAN[noise], model=walker()).markers[marker]
    mates = [LABELS.index(label) for label in row.companions]
    away = positions[:, marker] - positions[:, mates].mean(axis=1)
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    positions[:, marker] += 0.05 * np.linspace(0, 1, FRAMES)[:, None] * away
    found = told(changed(CLEAN[noise], positions), walker())
    assert found == {"drift": [((LABELS[marker],), ((FIRST, FIRST + FRAMES - 1),))]}


@settings(max_examples=10)
@given(noises, markers, places, st.integers(15, 60))
def test_frozen_markers_are_found_exactly(noise, marker, place, length):
    positions = np.array(CLEAN[noise].positions)
    positions[place : place + length, marker] = positions[place, marker]
    found = told(changed(CLEAN[noise], positions))
    frames = ((FIRST + place, FIRST + place + length - 1),)
    assert found["frozen"] == [((LABELS[marker],), frames)]
    assert set(found) <= {"frozen", "jump"}


def test_markers_never_seen_are_named_together():
    positions = np.array(CLEAN[0.0].positions)
    positions[:, [3, 8]] = np.nan
    whole = ((FIRST, FIRST + FRAMES - 1),)
    expected = {"never seen": [((LABELS[3], LABELS[8]), whole)]}
    assert told(changed(CLEAN[0.0], positions)) == expected


@pytest.mark.parametrize(("factor", "words"), [(1000, "divide by 1000"), (1e-3, "multiply")])
def test_wrong_units_are_suspected_and_nothing_else(factor, words):
    trial = changed(CLEAN[0.0005], factor * CLEAN[0.0005].positions)
    (finding,) = check_health(trial).findings
    assert finding.subject == "units"
    assert finding.severity is Severity.ERROR
    assert words in finding.sentence


def exchanged(label: str) -> str:
    return {"L": "R", "R": "L"}.get(label[0], label[0]) + label[1:]


def test_left_taken_for_right_is_one_error():
    sided = {label: exchanged(label) for label in LABELS if exchanged(label) in LABELS}
    (finding,) = check_health(CLEAN[0.0].rename_markers(sided)).findings
    assert finding.subject == "mirrored"
    assert finding.severity is Severity.ERROR
    mirrored = changed(CLEAN[0.0], CLEAN[0.0].positions * [1, -1, 1])
    assert set(told(mirrored)) == {"mirrored"}


def test_one_pair_exchanged_throughout_is_a_warning():
    (finding,) = check_health(CLEAN[0.0].rename_markers({"LTH1": "RTH1", "RTH1": "LTH1"})).findings
    assert (finding.subject, finding.severity) == ("mirrored", Severity.WARNING)
    assert finding.markers == ("LTH1",)


def test_a_world_upside_down_is_told():
    turned = CLEAN[0.0].rotate(np.diag([1.0, -1.0, -1.0]))
    assert set(told(turned)) == {"axes"}


def plate(
    offset: float = 0.0, drift: float = 0.0, sign: float = 1.0, load: float = 700.0, noise=0.5
) -> ForcePlate:
    """Two steps on a plate at 1000 Hz."""
    time = np.arange(3001) / 1000
    step = np.zeros(3001)
    for start in (0.6, 1.8):
        inside = (time > start) & (time < start + 0.65)
        step[inside] += np.sin(np.pi * (time[inside] - start) / 0.65) ** 0.5
    force = np.zeros((3001, 3))
    force[:, 2] = sign * load * step + offset + drift * time / 3
    force[:, 0] = 0.1 * load * step
    force += noise * np.random.default_rng(1).normal(size=force.shape)
    return ForcePlate("1", 1000.0, force, np.zeros((3001, 3)), np.zeros((3001, 3)))


def with_plate(which: ForcePlate) -> Trial:
    return replace(walk(3.0, first=FIRST), plates=(which,))


@pytest.mark.parametrize("noise", [0.0, 0.5, 2.0])
def test_a_good_plate_gives_no_findings(noise):
    assert told(with_plate(plate(noise=noise))) == {}


@pytest.mark.parametrize(
    ("bad", "kind", "severity"),
    [
        (plate(offset=12), "plate offset", Severity.WARNING),
        (plate(offset=-35), "plate offset", Severity.ERROR),
        (plate(sign=-1), "plate upside down", Severity.ERROR),
        (plate(load=0), "plate unloaded", Severity.INFO),
    ],
)
def test_faults_of_plates_are_told(bad, kind, severity):
    (finding,) = check_health(with_plate(bad)).findings
    assert (finding.subject, finding.severity, finding.plate) == (kind, severity, "1")


def test_a_drifting_plate_is_told_with_its_drift():
    found = {f.subject: f for f in check_health(with_plate(plate(drift=18, offset=-9))).findings}
    assert set(found) == {"plate drift"}
    assert "drifts by +17.8 N along z" in found["plate drift"].sentence


def test_frames_of_a_plate_are_frames_of_the_recording():
    (finding,) = check_health(with_plate(plate(sign=-1, noise=0.0))).findings
    for (first, last), start in zip(finding.frames, (0.6, 1.8), strict=True):
        assert first == pytest.approx(FIRST + 100 * start, abs=1)
        assert last == pytest.approx(FIRST + 100 * (start + 0.65), abs=1)


def test_findings_of_a_kind_are_few():
    positions = np.array(CLEAN[0.0].positions)
    numbers = np.random.default_rng(5)
    for marker in range(40):
        positions[numbers.integers(10, 190), marker] += 0.3 * direction(marker)
    found = check_health(changed(CLEAN[0.0], positions)).findings
    assert len(found) <= 9
    assert {label for finding in found for label in finding.markers} == set(LABELS[:40])


def test_nothing_to_look_at_is_no_error():
    assert check_health(Trial("empty", (), np.zeros((10, 0, 3)), 100.0)).findings == ()
    assert (
        check_health(Trial("nothing", ("A",), np.zeros((0, 1, 3)), 100.0)).markers[0].missing == 1.0
    )


def test_a_person_who_stands_on_a_plate_throughout_is_no_offset():
    force = np.tile([5.0, 3.0, 720.0], (3001, 1))
    still = ForcePlate("1", 1000.0, force, np.zeros_like(force), np.zeros_like(force))
    assert told(with_plate(still)) == {}
    sinking = replace(still, force=-force)
    assert set(told(with_plate(sinking))) == {"plate upside down"}


def test_an_empty_volume_is_not_held_against_the_markers():
    positions = np.array(CLEAN[0.0].positions)
    positions[:80] = np.nan
    positions[170:] = np.nan
    (finding,) = check_health(changed(CLEAN[0.0], positions)).findings
    assert (finding.subject, finding.severity) == ("empty", Severity.INFO)
    assert finding.frames == ((FIRST, FIRST + 79), (FIRST + 170, FIRST + FRAMES - 1))


@pytest.mark.parametrize(
    ("file", "kinds", "most"),
    [
        ("gait10dof/walk.trc", set(), 0),
        ("gait10dof/static.trc", set(), 0),
        ("arnold2013/subject01/markers.trc", set(), 0),
        ("ik_synthetic/subject01_synthetic_marker_data.trc", set(), 0),
        ("c3d/Qualisys.c3d", set(), 0),
        ("c3d/FP_Type1.c3d", {"plate unloaded"}, 1),
        ("c3d/FP_Type3.c3d", {"plate unloaded"}, 1),
        ("hdm/walk.c3d", {"jump", "spike"}, 12),
        ("c3d/cmu_dec.c3d", {"jump", "spike"}, 12),
        ("c3d/walking2.c3d", {"empty", "gap", "jump", "spike", "plate offset"}, 20),
        ("puppeteer/testdata.c3d", {"gap"}, 2),
        ("c3d/ten_plates_no_markers.c3d", {"plate offset", "plate unloaded"}, 4),
    ],
)
def test_real_recordings_raise_no_flood(shared_data, file, kinds, most):
    found = check_health(read(shared_data / file)).findings
    assert {finding.subject for finding in found} <= kinds
    assert len(found) <= most
    assert "mislabel" not in {finding.subject for finding in found}


@pytest.mark.parametrize(
    ("file", "pair"),
    [
        ("gait10dof/walk.trc", ("R.Thigh.Upper", "R.Thigh.Rear")),
        ("hdm/walk.c3d", ("TakeoMonday:LFHD", "TakeoMonday:RFHD")),
    ],
)
def test_a_swap_planted_in_a_real_recording_is_found(shared_data, file, pair):
    trial = read(shared_data / file)
    a, b = (trial.markers.index(label) for label in pair)
    positions = np.array(trial.positions)
    positions[50:71, [a, b]] = positions[50:71, [b, a]]
    (finding,) = [
        f for f in check_health(changed(trial, positions)).findings if f.subject == "swap"
    ]
    assert set(finding.markers) == set(pair)
    assert finding.frames == ((trial.first_frame + 50, trial.first_frame + 70),)
