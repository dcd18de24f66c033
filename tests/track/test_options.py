"""Options of tracking refuse what makes no sense."""

import pytest

import homodyn as hd
from homodyn.simulate import SpringLaw
from homodyn.track import TrackingOptions


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"friction": -1.0}, "friction"),
        ({"filter": 0.0}, "filter"),
        ({"relax_steps": 0}, "relax_steps"),
        ({"contact_law": SpringLaw(kp=1.0, max_force=3.0)}, "contact_law"),
        ({"residual_limits": -3.0}, "residual_limits"),
        ({"residual_limits": {"root_rx": float("nan")}}, "residual_limits"),
    ],
)
def test_options_out_of_range_are_refused(wrong, message):
    with pytest.raises(hd.ModelError, match=message):
        TrackingOptions(**wrong)
