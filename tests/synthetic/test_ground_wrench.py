"""The ground wrench of a planned walk, compared with the rate of momentum."""

import numpy as np

import homodyn as hd
from homodyn.synthetic.ground_wrench import required_wrench


def test_the_needed_wrench_is_the_change_of_momentum(walk, stride):
    """An independent way: momentum of the whole body, differentiated numerically."""
    clock = stride[0][::20]
    model, h = walk.model, 1e-5
    total = required_wrench(model, *walk.state(clock))
    before, after = (
        hd.dynamics.momentum(model, walk.state(t)[0], walk.state(t)[1])
        for t in (clock - h, clock + h)
    )
    rate = (after - before) / (2 * h)
    com = hd.dynamics.center_of_mass(model, walk.state(clock)[0])
    force = rate[:, 3:] - model.mass * model.gravity
    np.testing.assert_allclose(total.force, force, atol=2e-4)
    np.testing.assert_allclose(total.about(com)[:, :3], rate[:, :3], atol=2e-4)
