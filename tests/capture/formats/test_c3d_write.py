"""What is written as C3D reads back the same, here and in other programs."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from homodyn.capture import (
    Signals,
    Trial,
    read,
    write,
)
from homodyn.capture.formats.up_axis import ROTATION_BY_UP_AXIS
from homodyn.errors import FormatError
from homodyn.motion import (
    Event,
    ForcePlate,
)
from support.c3d_files import C3D, person, standing_plate

REAL = [
    "c3d/FP_Type1.c3d",
    "c3d/FP_Type3.c3d",
    "c3d/Qualisys.c3d",
    "c3d/cmu_dec.c3d",
    "c3d/unlabelled.c3d",
    "c3d/walking2.c3d",
    "c3d/ten_plates_no_markers.c3d",
    "hdm/walk.c3d",
    "rbdl_planar/gaitDataPlanar.c3d",
    "puppeteer/testdata.c3d",
]


def small_trial(**more) -> Trial:
    points, labels = person(frames=30)
    return Trial(**{"name": "small", "markers": tuple(labels), "positions": points / 1e3,
                    "rate": 100.0} | more)  # fmt: skip


def there_and_back(trial: Trial, folder) -> Trial:
    write(trial, folder / "back.c3d")
    return read(folder / "back.c3d")


def same(first: Trial, second: Trial) -> None:
    assert first.markers == second.markers
    assert np.array_equal(np.isnan(first.positions), np.isnan(second.positions))
    # 32 bits of a length in millimeters.
    assert np.allclose(first.positions, second.positions, rtol=1.2e-7, atol=1e-12, equal_nan=True)
    assert (first.rate, first.start) == (second.rate, second.start)
    assert first.events == second.events
    assert dict(first.properties) == dict(second.properties)
    assert np.array_equal(first.filled, second.filled)
    assert np.array_equal(first.axes, second.axes)
    assert (first.analog.names, first.analog.units) == (second.analog.names, second.analog.units)
    assert np.allclose(first.analog.values, second.analog.values, rtol=1.2e-7, equal_nan=True)
    assert [plate.name for plate in first.plates] == [plate.name for plate in second.plates]
    for one, other in zip(first.plates, second.plates, strict=True):
        assert (one.rate, one.start) == (other.rate, other.start)
        assert np.allclose(one.force, other.force, rtol=1e-6, atol=1e-6)
        assert np.allclose(one.point, other.point, atol=1e-7)
        assert np.allclose(one.torque, other.torque, rtol=1e-6, atol=1e-6)
        assert np.allclose(one.corners, other.corners, atol=1e-7)


@pytest.mark.parametrize("name", REAL)
def test_real_recordings_come_back(shared_data, tmp_path, name):
    trial = read(shared_data / name)
    back = there_and_back(trial, tmp_path)
    same(trial, back)
    assert back.first_frame == trial.first_frame
    assert [plate.channels.kind for plate in back.plates] == [
        plate.channels.kind for plate in trial.plates
    ]


labels = st.lists(
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=12),
    unique=True,
    max_size=8,
)
numbers = st.floats(-5.0, 5.0, width=32)
texts = st.text(st.characters(codec="utf-8", categories=("L", "N")), max_size=10)


@st.composite
def trials(draw) -> Trial:
    names = draw(labels)
    frames = draw(st.integers(1, 12))
    per_frame = draw(st.integers(1, 4))
    rate = draw(st.sampled_from([25.0, 59.94, 100.0, 240.0]))
    first = draw(st.integers(1, 300))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    positions = random.uniform(0.1, 2.0, (frames, len(names), 3))
    positions[random.uniform(size=(frames, len(names))) < 0.2] = np.nan
    if names:
        positions[0, 0] = [0.5, 0.25, 1.0]
    channels = [f"channel {k}" for k in range(draw(st.integers(0 if names else 1, 5)))]
    start = (first - 1) / rate
    events = [
        Event(time / 8 + start, draw(texts), draw(texts), draw(texts), draw(texts))
        for time in sorted(draw(st.sets(st.integers(0, 7), max_size=4)))
    ]
    events = [replace(event, time=float(np.float32(event.time))) for event in events]
    return Trial(
        name="back",
        markers=tuple(names),
        positions=positions,
        rate=rate,
        start=start,
        first_frame=first,
        analog=Signals(
            tuple(channels),
            rate * per_frame,
            random.normal(size=(frames * per_frame, len(channels))),
            tuple("V" for _ in channels),
            start,
        )
        if channels
        else Signals(),
        events=tuple(events),
        filled=random.uniform(size=(frames, len(names))) < 0.3,
        axes=draw(st.sampled_from(list(ROTATION_BY_UP_AXIS.values()))),
        properties=draw(st.dictionaries(texts.filter(bool), texts.filter(bool), max_size=3)),
    )


@settings(max_examples=60)
@given(trials())
def test_any_trial_comes_back(tmp_path_factory, trial):
    back = there_and_back(trial, tmp_path_factory.mktemp("c3d"))
    differences = [abs(a.time - b.time) for a, b in zip(trial.events, back.events, strict=True)]
    assert max(differences, default=0.0) < 1e-5
    same(replace(trial, events=()), replace(back, events=()))
    assert [replace(event, time=0.0) for event in trial.events] == [
        replace(event, time=0.0) for event in back.events
    ]
    assert back.first_frame == trial.first_frame


def test_plates_without_channels_get_some(tmp_path):
    random = np.random.default_rng(2)
    samples = 120
    force = np.stack([random.normal(0, 30, samples), random.normal(0, 30, samples),
                      random.uniform(200, 900, samples)], -1)  # fmt: skip
    point = np.stack([random.uniform(0, 2, samples), random.uniform(0, 1, samples),
                      np.full(samples, -0.0075)], -1)  # fmt: skip
    torque = np.stack([np.zeros(samples), np.zeros(samples), random.normal(0, 5, samples)], -1)
    force[:10] = point[:10] = torque[:10] = 0.0
    plates = tuple(
        ForcePlate(name, 400.0, force, point, torque, body=f"{name} foot")
        for name in ("left", "right")
    )
    back = there_and_back(small_trial(plates=plates), tmp_path)
    for plate in back.plates:
        assert np.allclose(plate.force, force, atol=1e-4)
        assert np.allclose(plate.point[10:], point[10:], atol=1e-6)
        assert np.allclose(plate.torque[10:], torque[10:], atol=1e-4)
    assert [plate.name for plate in back.plates] == ["left", "right"]
    assert [plate.body for plate in back.plates] == ["left foot", "right foot"]
    assert len(back.analog.names) == 12


def recorded(tmp_path) -> Trial:
    points, names = person()
    channels, plate = standing_plate(sign=-1.0)
    file = C3D(
        points=points,
        analog=channels,
        groups={
            "POINT": {"LABELS": names},
            "ANALOG": {"LABELS": list("abcdef"), "UNITS": ["N"] * 3 + ["Nmm"] * 3},
            "FORCE_PLATFORM": plate,
        },
    )
    (tmp_path / "made.c3d").write_bytes(file.bytes())
    return read(tmp_path / "made.c3d")


def test_a_plate_keeps_its_channels_as_long_as_they_say_the_same(tmp_path):
    trial = recorded(tmp_path)
    assert trial.plates[0].channels.sign == -1
    back = there_and_back(trial, tmp_path)
    same(trial, back)
    assert back.analog.names == tuple("abcdef")
    lighter = replace(trial, plates=(replace(trial.plates[0], force=0.5 * trial.plates[0].force),))
    back = there_and_back(lighter, tmp_path)
    assert np.allclose(back.plates[0].force, lighter.plates[0].force, rtol=1e-6, atol=1e-4)
    assert len(back.analog.names) == 12


def test_a_part_of_a_trial_comes_back_with_its_clock(tmp_path):
    part = recorded(tmp_path).crop(0.05, 0.12)
    back = there_and_back(part, tmp_path)
    assert back.start == part.start
    assert back.first_frame == part.first_frame == 6
    assert np.allclose(back.positions, part.positions, atol=1e-6)
    # The last frame is completed to all its samples.
    assert len(back.plates[0].force) == 4 * part.frames
    assert np.allclose(back.plates[0].force[: len(part.plates[0].force)], part.plates[0].force)


def test_a_trial_turned_about_the_vertical_is_written_as_it_stands(tmp_path):
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    trial = recorded(tmp_path).rotate(turn)
    back = there_and_back(trial, tmp_path)
    assert np.allclose(back.positions, trial.positions, atol=1e-6)
    assert np.allclose(back.plates[0].force, trial.plates[0].force, atol=1e-4)
    assert np.allclose(back.plates[0].point, trial.plates[0].point, atol=1e-6)


def test_more_names_than_one_parameter_can_hold(tmp_path):
    positions = np.random.default_rng(0).uniform(0.1, 2, (3, 700, 3))
    analog = Signals(
        tuple(f"c{k}" for k in range(300)), 100.0, np.ones((3, 300)), ("V",) * 300, 0.0
    )
    events = tuple(Event(k / 64, f"e{k}") for k in range(400))
    trial = Trial("many", tuple(f"m{k}" for k in range(700)), positions, 100.0, analog=analog,
                  events=events)  # fmt: skip
    same(trial, there_and_back(trial, tmp_path))


def test_ezc3d_reads_what_is_written(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    trial = recorded(tmp_path)
    trial = replace(trial, events=(Event(0.05, "Foot Strike", "Left"), Event(65.5, "late")))
    write(trial, tmp_path / "ours.c3d")
    theirs = ezc3d.c3d(str(tmp_path / "ours.c3d"), extract_forceplat_data=True)
    points = np.moveaxis(theirs["data"]["points"][:3], 0, -1).swapaxes(0, 1) / 1e3
    assert np.allclose(points, trial.positions, atol=1e-6)
    assert theirs["parameters"]["POINT"]["LABELS"]["value"] == list(trial.markers)
    times = theirs["parameters"]["EVENT"]["TIMES"]["value"]
    assert np.allclose(times, [[0, 1], [0.05, 5.5]])
    force = theirs["data"]["platform"][0]["force"].T
    assert np.allclose(-force, trial.plates[0].force, atol=1e-3)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"markers": (), "positions": np.zeros((3, 0, 3))},
            "no markers, plates or analog channels",
        ),
        ({"markers": ("a",), "positions": np.zeros((0, 1, 3))}, "no frames"),
        (
            {"analog": Signals(("a",), 150.0, np.zeros((45, 1)), ("V",))},
            r"analog channels: 150 Hz, of the frames: 100 Hz; .* multiple",
        ),
        (
            {"analog": Signals(("a",), 200.0, np.zeros((70, 1)), ("V",))},
            "70; 30 frames with 2 samples each need 60",
        ),
        (
            {"analog": Signals(("a",), 100.0, np.zeros((30, 1)), ("V",), start=1.0)},
            "analog channels: 1 s, of the frames: 0 s",
        ),
        ({"events": (Event(0.0, "x" * 300),)}, "300 bytes; C3D stores up to 255"),
    ],
)
def test_what_c3d_cannot_hold_is_refused_and_leaves_no_file(tmp_path, change, sentence):
    path = tmp_path / "refused.c3d"
    path.write_text("as before")
    with pytest.raises(FormatError, match=sentence):
        write(small_trial(**change), path)
    assert path.read_text() == "as before"
    assert [file.name for file in tmp_path.iterdir()] == ["refused.c3d"]


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FormatError, match="cannot be written: No such file"):
        write(small_trial(), tmp_path / "gone" / "a.c3d")
    with pytest.raises(FormatError, match=r"accepted: \.c3d, \.trc, \.csv"):
        write(small_trial(), tmp_path / "a.mat")
