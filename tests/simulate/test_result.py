"""Results of runs and rollouts as motions and tables."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import rollout, run


def test_a_result_is_a_motion_and_a_table(pendulum):
    result = run(pendulum, [1.0], None, 0.2, 1e-2, contact=None)
    motion = result.motion
    assert motion.model is pendulum
    np.testing.assert_array_equal(motion.q, result.q)
    np.testing.assert_allclose(motion.a[1:-1, 0], -1.5 * 9.81 * np.sin(result.q[1:-1, 0]), atol=0.3)
    name = pendulum.coordinate_names[0]
    np.testing.assert_array_equal(result[name].values, result.q[:, 0])
    np.testing.assert_array_equal(result[f"{name} velocity"].values, result.v[:, 0])
    assert len(repr(result).splitlines()) <= 10
    noted = repr(replace(result, notes=("The rod starts inside the floor.",)))
    assert "The rod starts inside the floor." in noted
    assert len(noted.splitlines()) <= 10
    assert not result.q.flags.writeable
    batch = rollout(
        pendulum, [[1.0], [0.5]], None, 0.2, 1e-2, contact=None, recorded_quantities=("q", "v")
    )
    np.testing.assert_allclose(batch.motion(0).q, result.q, atol=1e-13)
    with pytest.raises(hd.ModelError, match="did not record q and v"):
        rollout(pendulum, [[1.0]], contact=None).motion(0)
