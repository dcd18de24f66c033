"""Tracking of markers by physics: a simulated body follows them, and its forces are the result.

After Liu, Cooper and Ballard, Computational Modeling: Human Dynamic Model (HDM).
"""

from homodyn.track import experiments, streams
from homodyn.track.live import FrameStatus, Live, TrackedFrame
from homodyn.track.noise_study import NoiseStudy, noise_study
from homodyn.track.options import TrackingOptions
from homodyn.track.result import TrackingResult, TrackingStatus
from homodyn.track.sole_contacts import with_sole_contacts
from homodyn.track.track import track

__all__ = [
    "FrameStatus",
    "Live",
    "NoiseStudy",
    "TrackedFrame",
    "TrackingOptions",
    "TrackingResult",
    "TrackingStatus",
    "experiments",
    "noise_study",
    "streams",
    "track",
    "with_sole_contacts",
]
