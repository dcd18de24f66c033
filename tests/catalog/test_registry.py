import pytest

import homodyn as hd
from homodyn.catalog import registry
from homodyn.catalog.registry import build, describe, description, entries, entry


@pytest.fixture
def empty(monkeypatch):
    monkeypatch.setattr(registry, "_ENTRIES", {})
    registry._default.cache_clear()
    yield
    registry._default.cache_clear()


def test_a_body_is_registered_under_its_name_and_stays_a_function(empty, capsys):
    @entry(source="a book", limits="another book", assumed=("it is round",))
    def ball(mass=2.0):
        """A ball.

        It rolls.
        """
        rolling = hd.model.Assembly("ball")
        return rolling.add(hd.model.sphere("ball", mass, 0.1), hd.joints.free()).model()

    assert ball(3.0).mass == build("ball", mass=3.0).mass == 3.0
    (only,) = entries()
    assert (only.name, only.title, only.assumed) == ("ball", "A ball.", ("it is round",))
    header, _, row, blank, *details = description().splitlines()
    assert header.split()[:3] == ["body", "bodies", "dof"]
    assert row.split() == ["ball", "1", "6", "2.0", "A", "ball."]
    assert blank == ""
    assert details == description("ball").splitlines()
    for line in ("source: a book", "joint ranges: another book", "assumed: it is round"):
        assert f"  {line}" in details
    assert describe("ball") is None
    assert capsys.readouterr().out.splitlines() == details


def test_two_bodies_cannot_share_a_name(empty):
    def ball():
        """A ball."""

    entry(source="s", limits="l")(ball)
    with pytest.raises(hd.ModelError, match="already has a body 'ball'"):
        entry(source="s", limits="l")(ball)


@pytest.mark.parametrize("call", [build, describe])
def test_unknown_bodies_are_refused_with_the_known_ones(call):
    with pytest.raises(hd.ModelError, match="no body 'heimann'; did you mean 'heiman'"):
        call("heimann")
