"""Tracking of markers by physics: a simulated body follows them, and its forces are the result.

After Liu, Cooper and Ballard, Computational Modeling: Human Dynamic Model (HDM).
"""

from homodyn.track import experiments, streams, studies
from homodyn.track.foot_forces import foot_springs
from homodyn.track.live import FrameStatus, Live, TrackedFrame
from homodyn.track.options import TrackingOptions
from homodyn.track.replay import Replay, replay
from homodyn.track.result import TrackingResult, TrackingStatus
from homodyn.track.sole_contacts import with_sole_contacts
from homodyn.track.studies import NoiseStudy, noise_study
from homodyn.track.track import track
from homodyn.track.variants import TrackedVariants, track_variants

__all__ = [
    "FrameStatus",
    "Live",
    "NoiseStudy",
    "Replay",
    "TrackedFrame",
    "TrackedVariants",
    "TrackingOptions",
    "TrackingResult",
    "TrackingStatus",
    "experiments",
    "foot_springs",
    "noise_study",
    "replay",
    "streams",
    "studies",
    "track",
    "track_variants",
    "with_sole_contacts",
]
