"""Results of live tracking with known numbers."""

import numpy as np

from homodyn.track.streams import GroundContact, LiveSample


def live_sample(model, k):
    """The result of frame k: small angles, torques that grow with k, weight on the left heel."""
    q = model.neutral().copy()
    q[-1] = 0.01 * (k + 1)
    torques = np.linspace(0.0, 1.0 + k, model.nv)
    return LiveSample(
        time=1.0 + k / 100,
        arrival=50.0 + k / 100,
        number=k + 1,
        labels=tuple(marker.name for marker in model.markers),
        markers=np.zeros((len(model.markers), 3)),
        q=q,
        v=np.zeros(model.nv),
        torques=torques,
        power=12.0,
        effort=float(np.abs(torques).sum()),
        marker_error=0.004,
        ground={
            "left_heel": GroundContact(np.array([0.0, 0.0, 400.0]), np.array([0.1, 0.1, 0.0])),
            "right_heel": GroundContact(np.zeros(3), np.full(3, np.nan)),
        },
        latency_s=0.002,
    )
