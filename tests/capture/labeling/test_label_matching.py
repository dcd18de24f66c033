"""Labels find their markers by name, spelling, landmark or map, and never by guessing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn import catalog, load
from homodyn.capture import Trial, match_labels, read
from homodyn.capture.labeling import read_label_map, write_label_map
from homodyn.capture.labeling.landmarks import landmark, normalize_label
from homodyn.errors import CaptureError, FormatError

HEIMAN = catalog.heiman(height=1.75, mass=70, sex="male")
NAMES = tuple(marker.name for marker in HEIMAN.markers)


def labeled(*labels: str) -> Trial:
    positions = np.arange(3.0 * len(labels)).reshape(1, -1, 3)
    return Trial("labels", labels, positions, 100.0)


def rename(name: str, way: int) -> str:
    side, rest = ("", name) if name[0] not in "LR" else (name[0], name[1:])
    word = {"L": "Left", "R": "Right", "": ""}[side]
    ways = [
        name.lower(),
        f"Subject 1:{name}",
        f"{side}.{rest}" if side else rest,
        f"{rest}_{side}" if side else rest,
        f"{word} {rest}".strip(),
        f"{word}_{rest.lower()}".strip("_"),
    ]
    return ways[way]


@settings(max_examples=40)
@given(st.data())
def test_random_spellings_find_their_markers(data):
    kept = data.draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    labels = {name: rename(name, data.draw(st.integers(0, 5))) for name in kept}
    order = data.draw(st.permutations(kept))
    found = match_labels(HEIMAN, labeled(*(labels[name] for name in order), "Hat.Feather"))
    assert found.matched == labels
    assert found.unmatched == ("Hat.Feather",)
    assert set(found.absent) == set(NAMES) - set(kept)
    assert found.trial.markers == (*order, "Hat.Feather")


@pytest.mark.parametrize(
    ("file", "matched", "absent"),
    [
        ("hdm/walk.c3d", 41, 0),
        ("c3d/cmu_dec.c3d", 41, 0),
    ],
)
def test_cmu_recordings_match_the_model_of_their_markers(shared_data, file, matched, absent):
    found = match_labels(catalog.hdm(), read(shared_data / file))
    assert (len(found.matched), len(found.absent)) == (matched, absent)
    assert not found.unmatched


def test_opensim_recordings_match_opensim_models(shared_data):
    model = load(shared_data / "gait10dof/subject01.osim")
    static = match_labels(model, read(shared_data / "gait10dof/static.trc"))
    assert not static.absent
    walking = match_labels(model, read(shared_data / "gait10dof/walk.trc"))
    assert set(walking.absent) == {
        f"{side}.{joint}.{where}"
        for side in "LR"
        for joint in ("Knee", "Ankle")
        for where in ("Lat", "Med")
    }


@pytest.mark.parametrize(
    ("file", "some"),
    [
        ("hdm/walk.c3d", {"LASI": "LFWT", "RPSI": "RBWT", "RTIB": "RSHN", "C7": "C7"}),
        ("gait10dof/walk.trc", {"RASI": "R.ASIS", "RHEE": "R.Heel", "LTOE": "L.Toe.Tip"}),
        ("c3d/Qualisys.c3d", {"LASI": "L_IAS", "RKNE": "R_FLE", "LANK": "L_FAL", "C7": "CV7"}),
        ("c3d/walking2.c3d", {"RASI": "RASI", "RKNE": "RLFC", "LHEE": "LCAL"}),
        ("c3d/FP_Type1.c3d", {"RASI": "r asis", "LHEE": "l heel", "C7": "c7"}),
    ],
)
def test_other_marker_sets_are_translated(shared_data, file, some):
    found = match_labels(HEIMAN, read(shared_data / file))
    translated = {marker: found.matched[marker].rsplit(":", 1)[-1] for marker in some}
    assert translated == some
    for marker, label in found.matched.items():
        assert landmark(marker) == landmark(label) or normalize_label(marker) == normalize_label(
            label
        )


def test_two_labels_for_one_marker_are_refused_by_name():
    with pytest.raises(CaptureError, match=r"'Anna:RASI' and 'Ben:RASI'.*'RASI'"):
        match_labels(HEIMAN, labeled("Anna:RASI", "Ben:RASI"))
    with pytest.raises(CaptureError, match=r"'R\.ASIS' and 'RFWT'"):
        match_labels(HEIMAN, labeled("R.ASIS", "RFWT"))
    chosen = match_labels(HEIMAN, labeled("R.ASIS", "RFWT"), names={"RASI": "RFWT"})
    assert chosen.matched == {"RASI": "RFWT"}


def test_a_stricter_match_takes_precedence():
    found = match_labels(HEIMAN, labeled("R.ASIS", "RASI"))
    assert found.matched == {"RASI": "RASI"}
    assert found.unmatched == ("R.ASIS",)


def test_an_unmatched_label_is_not_mistaken_for_a_marker():
    found = match_labels(HEIMAN, labeled("RKNE", "KneeMarker"), names={"RKNE": "KneeMarker"})
    assert found.trial.markers == ("RKNE (unmatched)", "RKNE")


def test_suggestions_for_what_is_absent():
    found = match_labels(HEIMAN, labeled("RKNEE1", "RTH1"))
    assert found.suggestions["RKNE"] == ("RKNEE1",)
    assert "RTH1" in found.suggestions["RTHI"]
    assert "absent: LASI" in str(found)
    assert found.headline() == "0 of 32 markers of the model matched"


def test_maps_are_checked(tmp_path):
    trial = labeled("a.b", "c")
    with pytest.raises(CaptureError, match="did you mean 'RASI'"):
        match_labels(HEIMAN, trial, names={"RASIS": "c"})
    with pytest.raises(CaptureError, match=r"label of the trial 'd'.*a\.b, c"):
        match_labels(HEIMAN, trial, names={"RASI": "d"})
    with pytest.raises(CaptureError, match="two markers, 'RASI' and 'LASI'"):
        match_labels(HEIMAN, trial, names={"RASI": "c", "LASI": "c"})
    path = tmp_path / "markers.toml"
    path.write_text('[markers]\nRASI = "a.b"\n')
    assert match_labels(HEIMAN, trial, names=path).matched == {"RASI": "a.b"}
    for text, words in [
        ("[marker]\n", r"no table \[markers\]"),
        ("[markers]\nRASI = 3\n", "text in quotes"),
        ("[markers", "not valid TOML"),
    ]:
        path.write_text(text)
        with pytest.raises(FormatError, match=words):
            read_label_map(path)
    with pytest.raises(FormatError, match="cannot be read"):
        read_label_map(tmp_path / "gone.toml")


def test_a_map_is_written_to_be_edited_and_read_again(tmp_path):
    trial = labeled("R.ASIS", "RTH1", 'odd "name"', "KneeMarker")
    path = tmp_path / "markers.toml"
    write_label_map(path, HEIMAN, trial)
    assert read_label_map(path) == {"RASI": "R.ASIS"}
    text = path.read_text()
    assert '# "RTHI" = ""  # perhaps RTH1' in text
    path.write_text(text.replace('# "RKNE" = ""', '"RKNE" = "KneeMarker"'))
    again = match_labels(HEIMAN, trial, names=path)
    assert again.matched == {"RASI": "R.ASIS", "RKNE": "KneeMarker"}
    with pytest.raises(FormatError, match="overwrite=True"):
        write_label_map(path, HEIMAN, trial)
    write_label_map(path, HEIMAN, labeled("RASI"), overwrite=True)
    assert read_label_map(path) == {"RASI": "RASI"}
    assert list(tmp_path.iterdir()) == [path]
