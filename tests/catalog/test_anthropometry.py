import numpy as np
import pytest

import homodyn as hd
from homodyn.catalog import de_leva, heiman
from homodyn.catalog.data_tables import table_rows, table_source

PARTS = ("head", "upper trunk", "middle trunk", "lower trunk")
PAIRS = ("upper arm", "forearm", "hand", "thigh", "shank", "foot")


@pytest.mark.parametrize("sex", ["male", "female"])
def test_masses_add_up_to_the_whole_person(sex):
    parts = sum(de_leva(name, sex).mass for name in PARTS)
    pairs = sum(de_leva(name, sex).mass for name in PAIRS)
    assert parts + 2 * pairs == pytest.approx(1.0, abs=1.5e-4)


@pytest.mark.parametrize("sex", ["male", "female"])
def test_the_three_parts_of_the_trunk_make_the_trunk(sex):
    trunk = de_leva("trunk", sex)
    parts = [de_leva(name, sex) for name in PARTS[1:]]
    assert sum(part.mass for part in parts) == pytest.approx(trunk.mass, abs=1.5e-4)
    assert sum(part.length for part in parts) == pytest.approx(trunk.length, abs=1e-4)
    below, moment = 0.0, 0.0
    for part in parts:
        moment += part.mass * (below + part.com * part.length)
        below += part.length
    # The table has parts and whole agree within 3 mm of a person of 1.741 m.
    assert moment / trunk.mass == pytest.approx(trunk.com * trunk.length, abs=2e-3)


@pytest.mark.parametrize("sex", ["male", "female"])
def test_definitions_between_other_end_points_are_the_same_body(sex):
    """Center of mass and inertia of a segment do not depend on the definition of its length."""
    for row in table_rows("de_leva_1996"):
        if row["sex"] != sex:
            continue
        first = de_leva(row["segment"], sex)
        other = de_leva(row["segment"], sex, row["endpoints"])
        radii = [np.array(s.gyration) * s.length for s in (first, other)]
        assert radii[1] == pytest.approx(radii[0], rel=0.02), row
        if first.endpoints.split("-")[0] == other.endpoints.split("-")[0]:
            assert other.com * other.length == pytest.approx(first.com * first.length, rel=2e-3)


def test_every_segment_has_possible_moments():
    for row in table_rows("de_leva_1996"):
        squares = sorted(float(row[a]) ** 2 for a in ("sagittal", "transverse", "longitudinal"))
        assert squares[2] <= squares[0] + squares[1], row


def test_a_segment_becomes_the_body_of_a_person():
    thigh = de_leva("thigh").body("ThighRight", 1.79, 76.0)
    expected = heiman().body("ThighRight")
    assert thigh.mass == pytest.approx(expected.mass)
    assert thigh.com == pytest.approx(expected.com, abs=1e-4)
    assert thigh.inertia == pytest.approx(expected.inertia, rel=1e-3)
    head = de_leva("head").from_distal_end()
    assert head.endpoints == "MIDG-VERT"
    up = head.body("Head", 1.79, 76.0, length=0.2, upwards=True)
    assert up.com[2] == pytest.approx(0.2 * (1 - 0.5976))


def test_unknown_segments_are_refused_with_the_known_ones():
    with pytest.raises(hd.ModelError, match="no segment 'tigh'; did you mean 'thigh'"):
        de_leva("tigh")
    with pytest.raises(hd.ModelError, match="accepted: male, female"):
        de_leva("thigh", "child")
    with pytest.raises(hd.ModelError, match="KJC-LMAL, KJC-AJC"):
        de_leva("shank", endpoints="KJC-TOE")


def test_tables_state_their_sources():
    assert "Journal of Biomechanics 29(9)" in table_source("de_leva_1996")
    for table in ("lengths", "segments", "ranges", "bounds", "subjects", "markers"):
        assert "Felis" in table_source(f"heiman_{table}")
