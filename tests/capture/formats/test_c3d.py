"""C3D files of every kind become the same trial; what is wrong with one becomes a sentence."""

import time

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from homodyn.capture import read
from homodyn.capture.formats.up_axis import ROTATION_BY_UP_AXIS
from homodyn.errors import FormatError, HomodynError
from homodyn.motion import Event
from support.c3d_files import C3D, DEC, INTEL, MIPS, person, standing_plate

REAL = [
    "c3d/FP_Type1.c3d",
    "c3d/FP_Type3.c3d",
    "c3d/Qualisys.c3d",
    "c3d/cmu_dec.c3d",
    "c3d/unlabelled.c3d",
    "c3d/walking2.c3d",
    "hdm/walk.c3d",
    "rbdl_planar/gaitDataPlanar.c3d",
    "puppeteer/testdata.c3d",
    "c3d/ten_plates_no_markers.c3d",
]


def save(folder, file: C3D, name="made.c3d"):
    path = folder / name
    path.write_bytes(file.bytes())
    return path


def walker(frames=20, **more) -> C3D:
    points, labels = person(frames)
    groups = {"POINT": {"LABELS": labels}} | more.pop("groups", {})
    groups["POINT"] = {"LABELS": labels} | groups["POINT"]
    return C3D(points=points, groups=groups, **more)


def has_note(trial, words: str) -> bool:
    return any(words in note for note in trial.notes)


@pytest.mark.parametrize("processor", [INTEL, DEC, MIPS])
@pytest.mark.parametrize("scale", [-1.0, 0.1])
def test_every_byte_order_and_number_type_reads_the_same(tmp_path, processor, scale):
    channels, plate = standing_plate()
    file = walker(
        processor=processor,
        scale=scale,
        analog=np.rint(channels / 4),
        groups={
            "ANALOG": {"LABELS": list("abcdef"), "SCALE": np.full(6, 2.0), "GEN_SCALE": 2.0},
            "FORCE_PLATFORM": plate,
            "EVENT": {"USED": 1, "LABELS": ["Foot Strike"], "TIMES": np.array([[0.0], [0.125]])},
        },
    )
    trial = read(save(tmp_path, file))
    exact = file.points / 1000.0
    assert np.abs(trial.positions - exact).max() < (1e-4 if scale > 0 else 2e-7)
    assert np.allclose(trial.analog.values, 4 * np.rint(channels / 4), rtol=1e-6)
    assert trial.analog.rate == 400.0
    assert trial.events == (Event(0.125, "Foot Strike"),)
    assert trial.plates[0].force[:, 2].min() > 600.0


@pytest.mark.parametrize("name", REAL)
def test_real_files_hold_what_ezc3d_finds_in_them(shared_data, name):
    ezc3d = pytest.importorskip("ezc3d")
    theirs = ezc3d.c3d(str(shared_data / name))
    trial = read(shared_data / name)
    points = np.moveaxis(theirs["data"]["points"][:3], 0, -1).swapaxes(0, 1)
    labels = theirs["parameters"]["POINT"]["LABELS"]["value"]
    kept = [labels.index(label) for label in trial.markers]
    unit = {"mm": 1e-3, "m": 1.0}[theirs["parameters"]["POINT"]["UNITS"]["value"][0].lower()]
    if "Planar" in name:
        unit = 1e-3
    expected = points[:, kept] * unit
    ours = trial.positions @ trial.axes
    nothing = ~np.isfinite(expected).all(-1) | (expected == 0).all(-1)
    assert (np.isnan(ours).any(-1) == nothing).all()
    assert np.abs(ours - expected)[~nothing].max(initial=0.0) < 1e-7
    analog = theirs["data"]["analogs"][0].T
    if analog.shape[1]:
        assert np.allclose(trial.analog.values, analog, rtol=1e-6, atol=1e-9)
        assert trial.analog.rate == theirs["parameters"]["ANALOG"]["RATE"]["value"][0]
    assert trial.rate == theirs["parameters"]["POINT"]["RATE"]["value"][0]
    assert trial.first_frame == theirs["header"]["points"]["first_frame"] + 1


@pytest.mark.parametrize(
    ("name", "markers", "plates", "up", "note"),
    [
        ("c3d/FP_Type1.c3d", 22, 1, "y", "plate 2 is omitted: its corners are not a rectangle"),
        ("c3d/FP_Type3.c3d", 34, 2, "z", "corrected by FPCOPPOLY"),
        ("c3d/Qualisys.c3d", 55, 2, "z", "the normal of the force plates"),
        ("c3d/cmu_dec.c3d", 41, 0, "z", "from the feet to the head"),
        ("c3d/unlabelled.c3d", 4, 2, "z", "the normal of the force plates"),
        ("c3d/walking2.c3d", 44, 2, "z", "the normal of the force plates"),
        ("c3d/ten_plates_no_markers.c3d", 0, 10, "z", "the normal of the force plates"),
        ("hdm/walk.c3d", 41, 0, "z", "from the feet to the head"),
        (
            "rbdl_planar/gaitDataPlanar.c3d",
            37,
            0,
            "z",
            "lengths are read in mm: the file states 'M'",
        ),
        ("puppeteer/testdata.c3d", 51, 0, "z", "152 points with results of a model"),
    ],
)
def test_real_files_are_read_as_stated(shared_data, name, markers, plates, up, note):
    trial = read(shared_data / name)
    assert (len(trial.markers), len(trial.plates)) == (markers, plates)
    assert np.array_equal(trial.axes, ROTATION_BY_UP_AXIS[up])
    assert has_note(trial, note)
    for plate in trial.plates:
        lift = plate.force[:, 2]
        assert np.abs(lift).max() < 50 or lift.max() > -10 * lift.min()


def test_real_events_are_on_the_clock_of_the_frames(shared_data):
    trial = read(shared_data / "c3d/Qualisys.c3d")
    assert trial.start == pytest.approx(704 / 200)
    assert [event.label for event in trial.events[:3]] == ["LHS", "RTO", "RHS"]
    assert [event.time for event in trial.events[:3]] == [3.59, 3.685, 4.05]
    assert all(trial.time[0] <= event.time <= trial.time[-1] for event in trial.events)
    assert trial.analog.start == trial.start == trial.plates[0].start


def test_the_real_cut_off_file_is_refused_and_partly_read_on_demand(shared_data):
    path = shared_data / "c3d/Optotrak.c3d"
    with pytest.raises(FormatError, match=r"states 1149 frames and contains 29.*partial=True"):
        read(path)
    trial = read(path, partial=True)
    assert trial.frames == 29
    assert has_note(trial, "29 of 1149 frames are read")


def test_a_walking_file_reads_fast(shared_data):
    path = shared_data / "c3d/walking2.c3d"
    read(path)
    spent = []
    for _ in range(5):
        before = time.process_time()
        read(path)
        spent.append(time.process_time() - before)
    assert min(spent) < 0.2


@pytest.mark.parametrize("up", ROTATION_BY_UP_AXIS)
def test_any_axis_can_be_up(tmp_path, up):
    points, labels = person()
    file = C3D(points=points @ ROTATION_BY_UP_AXIS[up], groups={"POINT": {"LABELS": labels}})
    trial = read(save(tmp_path, file))
    assert has_note(trial, f"up is {up} of the file: the direction from the feet to the head")
    assert np.abs(trial.positions - points / 1e3).max() < 1e-6
    assert np.linalg.det(trial.axes) == pytest.approx(1.0)


def test_plates_give_the_vertical_axis_and_the_user_overrides_it(tmp_path):
    channels, plate = standing_plate()
    file = walker(analog=channels, groups={"FORCE_PLATFORM": plate})
    file.groups["POINT"]["LABELS"] = [f"*{k}" for k in range(10)]
    rotation = ROTATION_BY_UP_AXIS["-y"]
    file.points = file.points @ rotation
    plate["CORNERS"] = np.einsum("ij,jkl->ikl", rotation.T, plate["CORNERS"])
    path = save(tmp_path, file)
    trial = read(path)
    assert has_note(trial, "up is -y of the file: the normal of the force plates")
    assert trial.plates[0].force[:, 2].min() > 600
    assert has_note(read(path, up="+X"), "up is x of the file: as requested")
    with pytest.raises(HomodynError, match=r"up='w' is not an axis; accepted: x, y, z"):
        read(path, up="w")


def test_the_screen_and_the_extent_give_the_vertical_axis_as_a_last_resort(tmp_path):
    points, _ = person()
    anonymous = [f"*{k}" for k in range(10)]
    file = C3D(points=points, groups={"POINT": {"LABELS": anonymous}})
    assert has_note(read(save(tmp_path, file)), "up is z of the file: the markers extend furthest")
    file.groups["POINT"]["Y_SCREEN"] = ["+Y"]
    assert has_note(read(save(tmp_path, file)), "up is y of the file: POINT:Y_SCREEN is +Y")
    file = C3D(points=points / 10, groups={"POINT": {"LABELS": anonymous}})
    assert has_note(read(save(tmp_path, file)), "the default of the format")


def test_contradicting_vertical_axes_are_noted(tmp_path):
    file = walker(groups={"POINT": {"Y_SCREEN": ["+Y"]}})
    assert has_note(read(save(tmp_path, file)), "to the head (though POINT:Y_SCREEN is +Y)")


def test_points_that_are_not_seen_become_nan(tmp_path):
    file = walker()
    file.residuals = np.zeros((20, 10))
    file.residuals[3, 2] = -1
    file.points[4, 3] = 0.0
    file.points[5, 4] = np.nan
    file.points[6, 5] = [20e3, 0, 0]
    file.points[7, 6] = [-3.6973e28, -3.6973e28, -3.6973e28]
    trial = read(save(tmp_path, file))
    missing = {(3, 2), (4, 3), (5, 4), (6, 5), (7, 6)}
    assert set(zip(*np.nonzero(~trial.seen), strict=True)) == missing
    assert has_note(trial, "1 position of 1 marker at exactly (0, 0, 0) counts as missing")
    assert has_note(trial, "2 positions of 2 markers more than 10 m")


def test_two_people_far_apart_are_both_kept(tmp_path):
    points, labels = person()
    both = np.concatenate([points, points + np.array([25e3, 0, 0])], axis=1)
    names = [*labels, *(f"B:{label}" for label in labels)]
    trial = read(save(tmp_path, C3D(points=both, groups={"POINT": {"LABELS": names}})))
    assert trial.seen.all()


def test_three_markers_are_enough_to_find_a_distant_one(tmp_path):
    points = np.tile([[500.0, 0, 1000], [600, 0, 1100], [90e3, 0, 0]], (4, 1, 1))
    points[1] = [[500.0, 0, 1000], [40e3, 0, 1100], [90e3, 0, 0]]
    trial = read(save(tmp_path, C3D(points=points)))
    assert trial.seen.tolist() == [[True, True, False], [True] * 3, *[[True, True, False]] * 2]


def test_plates_alone_stand_with_a_positive_axis_up(tmp_path):
    channels, plate = standing_plate()
    plate["CORNERS"] = plate["CORNERS"][:, ::-1]
    file = C3D(points=np.zeros((20, 0, 3)), analog=channels, groups={"FORCE_PLATFORM": plate})
    trial = read(save(tmp_path, file))
    assert has_note(trial, "up is z of the file: the normal of the force plates")
    assert trial.plates[0].force[:, 2].min() > 600
    assert trial.markers == ()


def test_labels_are_never_lost(tmp_path):
    file = walker(groups={"POINT": {"LABELS": ["A", "", "A", "A_2", "A", "B"]}})
    trial = read(save(tmp_path, file))
    assert trial.markers[:6] == ("A", "unlabeled_2", "A_3", "A_2", "A_4", "B")
    assert trial.markers[6:] == tuple(f"unlabeled_{k}" for k in (7, 8, 9, 10))
    assert has_note(trial, "without a label in the file, named by their number: unlabeled_2")
    assert has_note(trial, "labels that occur several times got a number: A_3, A_4")


def test_more_points_than_one_parameter_can_name(tmp_path):
    points = np.random.default_rng(1).normal(0, 500, (4, 600, 3))
    names = [f"P{k}" for k in range(600)]
    labels = {"LABELS": names[:255], "LABELS2": names[255:510], "LABELS3": names[510:]}
    trial = read(save(tmp_path, C3D(points=points, groups={"POINT": labels})))
    assert trial.markers == tuple(names)
    assert np.abs(trial.positions - points / 1e3).max() < 1e-6


def test_more_analog_channels_than_one_parameter_can_name(tmp_path):
    values = np.random.default_rng(1).normal(0, 1, (40, 300))
    names = [f"C{k}" for k in range(300)]
    groups = {
        "ANALOG": {
            "LABELS": names[:255],
            "LABELS2": names[255:],
            "SCALE": np.full(255, 2.0),
            "SCALE2": np.full(45, 3.0),
        }
    }
    trial = read(save(tmp_path, walker(analog=values, groups=groups)))
    assert trial.analog.names == tuple(names)
    assert np.allclose(trial.analog.channel("C0"), 2 * values[:, 0], atol=1e-6)
    assert np.allclose(trial.analog.channel("C299"), 3 * values[:, 299], atol=1e-6)


def test_events_of_the_group_and_of_the_header(tmp_path):
    file = walker(
        frames=200,
        header_events=((0.5, "RHS"), (0.25, "Foot")),
        groups={
            "EVENT": {
                "USED": 2,
                "LABELS": ["Foot Strike", "Foot Off"],
                "CONTEXTS": ["Left", "Right"],
                "SUBJECTS": ["Ann", "Ann"],
                "DESCRIPTIONS": ["heel first", ""],
                "TIMES": np.array([[0.0, 0.0], [0.25, 1.5]]),
            }
        },
    )
    trial = read(save(tmp_path, file))
    assert trial.events == (
        Event(0.25, "Foot Strike", "Left", "Ann", "heel first"),
        Event(0.5, "RHS"),
        Event(1.5, "Foot Off", "Right", "Ann"),
    )


def test_minutes_and_more_events_than_one_parameter_holds(tmp_path):
    count = 300
    times = np.stack([np.full(count, 2.0), np.linspace(0, 59, count)])
    file = walker(
        first=12001,
        frames=7000,
        groups={
            "EVENT": {
                "USED": count,
                "TIMES": times[:, :255],
                "TIMES2": times[:, 255:],
                "LABELS": [f"e{k}" for k in range(255)],
                "LABELS2": [f"e{k}" for k in range(255, count)],
            }
        },
    )
    trial = read(save(tmp_path, file))
    assert len(trial.events) == count
    assert trial.start == 120.0
    assert trial.events[-1] == Event(179.0, "e299")


def test_events_counted_from_the_first_frame_are_moved_to_the_clock(tmp_path):
    events = {"USED": 1, "LABELS": ["Foot Off"], "TIMES": np.array([[0.0], [0.1]])}
    file = walker(first=501, groups={"EVENT": events})
    trial = read(save(tmp_path, file))
    assert trial.events[0].time == pytest.approx(5.1)
    assert has_note(trial, "relative to the first frame of the file; 5 s is added")
    events["TIMES"] = np.array([[0.0], [9.0]])
    trial = read(save(tmp_path, file))
    assert trial.events[0].time == 9.0
    assert has_note(trial, "1 of 1 event is outside the frames")


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"USED": 0},
        {"USED": 0, "TIMES": (4, (2, 0), b""), "LABELS": (-1, (0, 0), b"")},
        {"USED": 3},
    ],
)
def test_an_empty_event_group_means_no_events(tmp_path, event):
    assert read(save(tmp_path, walker(groups={"EVENT": event}))).events == ()


def test_one_event_may_lack_its_second_dimension(tmp_path):
    group = {"USED": 1, "LABELS": ["x"], "TIMES": np.array([0.0, 0.1])}
    assert read(save(tmp_path, walker(groups={"EVENT": group}))).events == (Event(0.1, "x"),)


def test_parameters_may_have_unusual_types_or_be_absent(tmp_path):
    channels, plate = standing_plate()
    usual = read(save(tmp_path, walker(analog=channels, groups={"FORCE_PLATFORM": plate})))
    byte = {
        "POINT": {"USED": (1, (), b"\x0a"), "RATE": None, "SCALE": None, "FRAMES": None},
        "ANALOG": {"USED": (1, (1,), b"\x06"), "RATE": None},
        "FORCE_PLATFORM": plate | {"USED": (1, (), b"\x01"), "CAL_MATRIX": (4, (0,), b"")},
    }
    trial = read(save(tmp_path, walker(analog=channels, groups=byte)))
    assert np.array_equal(trial.positions, usual.positions)
    assert np.array_equal(trial.plates[0].force, usual.plates[0].force)
    assert trial.analog.rate == 400.0
    assert has_note(trial, "ANALOG:RATE is absent; 400 Hz")
    bare = read(save(tmp_path, walker(groups={"ANALOG": None})))
    assert bare.plates == ()
    assert bare.analog.names == ()


def test_analog_integers_may_be_unsigned(tmp_path):
    values = np.array([[0], [40000], [65535], [2048]] * 5, dtype=float)
    file = walker(
        scale=0.1,
        analog=values,
        groups={"ANALOG": {"FORMAT": ["UNSIGNED"], "OFFSET": np.array([2048]), "SCALE": [0.5]}},
    )
    file.groups["ANALOG"]["SCALE"] = np.array([0.5])
    trial = read(save(tmp_path, file))
    assert np.allclose(trial.analog.values[:, 0], (values[:, 0] - 2048) * 0.5)


def test_long_recordings_count_beyond_sixteen_bits(tmp_path):
    frames = 70_000
    points = np.broadcast_to(person(1)[0], (frames, 10, 3)).copy()
    file = C3D(
        points=points,
        groups={
            "POINT": {"LABELS": person(1)[1], "FRAMES": 65535},
            "TRIAL": {
                "ACTUAL_START_FIELD": np.array([1, 0]),
                "ACTUAL_END_FIELD": np.array([frames % 65536, frames // 65536]),
            },
        },
    )
    assert read(save(tmp_path, file)).frames == frames
    file.groups.pop("TRIAL")
    file.groups["POINT"]["LONG_FRAMES"] = float(frames)
    assert read(save(tmp_path, file)).frames == frames


def test_different_counts_of_frames_are_noted(tmp_path):
    trial = read(save(tmp_path, walker(groups={"POINT": {"FRAMES": 15}})))
    assert trial.frames == 15
    assert has_note(
        trial, "different numbers of frames (POINT:FRAMES 15, the header 20); 15 are read"
    )


def test_a_force_on_the_plate_is_turned_into_the_force_on_the_person(tmp_path):
    channels, plate = standing_plate()
    usual = read(save(tmp_path, walker(analog=channels, groups={"FORCE_PLATFORM": plate})))
    over = read(save(tmp_path, walker(analog=-channels, groups={"FORCE_PLATFORM": plate})))
    assert has_note(over, "plate 1 has a negative vertical force")
    assert not has_note(usual, "negative vertical force")
    for part in ("force", "point", "torque"):
        assert np.allclose(getattr(over.plates[0], part), getattr(usual.plates[0], part))
    assert over.plates[0].channels.sign == -1


@pytest.mark.parametrize(
    ("unit", "factor", "note"),
    [
        ("mm", 1.0, None),
        ("m", 1e-3, None),
        ("cm", 0.1, None),
        ("in", 1 / 25.4, None),
        ("M", 1.0, "lengths are read in mm"),
        ("mm", 1e-3, "lengths are read in m:"),
        ("", 1.0, "lengths are read in mm: the file states no unit"),
        ("parsec", 1e-3, "lengths are read in m:"),
    ],
)
def test_units_are_read_and_checked(tmp_path, unit, factor, note):
    file = walker(groups={"POINT": {"UNITS": [unit]}})
    exact = file.points / 1e3
    file.points = file.points * factor
    trial = read(save(tmp_path, file))
    assert np.abs(trial.positions - exact).max() < 1e-6
    assert has_note(trial, note) if note else not has_note(trial, "lengths")


def test_rates_are_the_shortest_decimals(tmp_path):
    assert read(save(tmp_path, walker(rate=59.94))).rate == 59.94


def test_subject_and_maker_are_properties(tmp_path):
    groups = {
        "SUBJECTS": {"NAMES": ["Ann"]},
        "MANUFACTURER": {"COMPANY": ["Vicon"]},
        "PROCESSING": {"BODYMASS": 72.5},
    }
    properties = read(save(tmp_path, walker(groups=groups))).properties
    assert properties == {"subject": "Ann", "maker": "Vicon", "PROCESSING:BODYMASS": "72.5"}


def test_every_truncation_is_refused_or_noted(tmp_path):
    channels, plate = standing_plate()
    whole = walker(analog=channels, groups={"FORCE_PLATFORM": plate}).bytes()
    path = tmp_path / "cut.c3d"
    for length in [*range(0, 600, 7), *range(600, len(whole), 53), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError, match=r"truncated|empty|not a C3D|damaged"):
            read(path)
        try:
            trial = read(path, partial=True)
        except FormatError:
            continue
        assert 0 < trial.frames < 20
        assert has_note(trial, f"{trial.frames} of 20 frames are read")


@settings(max_examples=300)
@given(st.data())
def test_damaged_bytes_give_a_trial_or_a_sentence(tmp_path_factory, data):
    channels, plate = standing_plate(frames=3)
    file = C3D(
        points=person(3)[0],
        analog=channels,
        groups={"POINT": {"LABELS": person(3)[1]}, "FORCE_PLATFORM": plate, "EVENT": {"USED": 1}},
        processor=data.draw(st.sampled_from([INTEL, DEC, MIPS])),
    )
    content = bytearray(file.bytes())
    for _ in range(data.draw(st.integers(1, 12))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "damaged.c3d"
    path.write_bytes(content)
    try:
        trial = read(path, partial=True)
    except HomodynError:
        return
    assert trial.positions.shape == (trial.frames, len(trial.markers), 3)
    for one in trial.plates:
        assert np.isfinite(one.force).all()
        assert np.isfinite(one.point).all()


@settings(max_examples=50)
@given(st.binary(max_size=3000))
def test_any_bytes_give_a_sentence(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "any.c3d"
    path.write_bytes(b"\x02\x50" + content)
    with pytest.raises(HomodynError):
        read(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"POINT": {"RATE": 0.0}}, None),
        ({"POINT": {"USED": 0}, "ANALOG": {"USED": 0}}, "neither points nor analog channels"),
        ({"POINT": {"RATE": -5.0}}, "frame rate is -5 Hz"),
    ],
)
def test_impossible_numbers_are_refused(tmp_path, change, sentence):
    path = save(tmp_path, walker(groups=change))
    if sentence is None:
        assert read(path).rate == 100.0
        return
    with pytest.raises(FormatError, match=sentence):
        read(path)


def test_a_recording_without_visible_markers_is_refused(tmp_path):
    file = walker()
    file.residuals = np.full((20, 10), -1.0)
    with pytest.raises(FormatError, match="no marker is visible in any frame"):
        read(save(tmp_path, file))


def test_what_is_no_file_or_no_c3d_is_refused(tmp_path):
    with pytest.raises(FormatError, match="no such file"):
        read(tmp_path / "gone.c3d")
    (tmp_path / "folder.c3d").mkdir()
    with pytest.raises(FormatError, match="this is a folder"):
        read(tmp_path / "folder.c3d")
    (tmp_path / "empty.c3d").touch()
    with pytest.raises(FormatError, match=r"empty \(0 bytes\); export"):
        read(tmp_path / "empty.c3d")
    (tmp_path / "text.c3d").write_text("not a recording " * 100)
    with pytest.raises(FormatError, match="not a C3D file"):
        read(tmp_path / "text.c3d")
    (tmp_path / "a.xyz").touch()
    with pytest.raises(FormatError, match=r"accepted: \.c3d, \.trc, \.csv"):
        read(tmp_path / "a.xyz")
    file = bytearray(walker().bytes())
    file[515] = 99
    (tmp_path / "other.c3d").write_bytes(file)
    with pytest.raises(FormatError, match="processor type 99 is unknown"):
        read(tmp_path / "other.c3d")
