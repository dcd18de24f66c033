"""Keywords that change the fields of an options record."""

import pytest

from homodyn.foundation import Record, record
from homodyn.foundation.options import change_options


@record
class DivingOptions(Record):
    weights: float = 1.0
    depth: float = 2.0


def test_keywords_change_fields():
    assert change_options("dive", DivingOptions(), {"depth": 3.0}).depth == 3.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dpeth", r"dive\(\) has no argument 'dpeth'; did you mean 'depth'\?"),
        ("duraton", r"did you mean 'duration'\?"),
        ("marker_weights", r"did you mean 'weights'\?"),
        ("zebra", "options are weights, depth"),
        ("tank", "pass the tank as depth="),
    ],
)
def test_an_unknown_keyword_is_refused_with_a_suggestion(name, message):
    with pytest.raises(TypeError, match=message):
        change_options(
            "dive",
            DivingOptions(),
            {name: 1},
            arguments=("duration",),
            hints={"tank": "pass the tank as depth="},
        )
