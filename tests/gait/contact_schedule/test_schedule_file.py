"""Contact schedules in files: round trip, and a message for each kind of mistake."""

import pytest

from homodyn.errors import FormatError
from homodyn.gait.contact_schedule import (
    FootContact,
    FootContactPhase,
    read_contact_schedule,
    write_contact_schedule,
)

STEP = (
    FootContactPhase(0.409, 0.701, FootContact.FLAT, FootContact.SWING),
    FootContactPhase(0.701, 0.822, FootContact.FOREFOOT, FootContact.SWING),
    FootContactPhase(0.822, 0.918, FootContact.FOREFOOT, FootContact.HEEL),
)


def test_phases_read_back_as_they_were_written(tmp_path):
    write_contact_schedule(STEP, tmp_path / "phases.csv")
    assert read_contact_schedule(tmp_path / "phases.csv") == STEP


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "heading must be begin"),
        ("a,b\n", "heading must be begin"),
        ("begin,end,right,left\n", "no phases"),
        ("begin,end,right,left\n0,0.1,flat\n", "line 2.*3 cells under 4|3 cells under 4"),
        ("begin,end,right,left\nx,0.1,flat,swing\n", "a time is not a number"),
        ("begin,end,right,left\n0.2,0.1,flat,swing\n", "cannot last from 0.2 to 0.1"),
        ("begin,end,right,left\n0,nan,flat,swing\n", "cannot last"),
        ("begin,end,right,left\n0,0.1,tiptoe,swing\n", "'tiptoe'; accepted: swing, heel"),
        ("begin,end,right,left\n0,0.1,flat,swing\n0.2,0.3,flat,swing\n", "ends at 0.1 s"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(tmp_path, text, message):
    path = tmp_path / "phases.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_contact_schedule(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FormatError, match=r"nowhere\.csv"):
        read_contact_schedule(tmp_path / "nowhere.csv")
