"""Live streams of markers: sources, checks, filter, calibration, sessions and outputs."""

from homodyn.track.streams import outputs
from homodyn.track.streams.causal_filter import CausalFilter, FilteredMarkers
from homodyn.track.streams.file_player import FilePlayer
from homodyn.track.streams.latency import LatencySummary
from homodyn.track.streams.live_options import LiveOptions
from homodyn.track.streams.live_sample import GroundContact, LiveSample, LiveState
from homodyn.track.streams.live_session import LiveSession
from homodyn.track.streams.live_summary import LiveSummary
from homodyn.track.streams.lsl_source import LslSource
from homodyn.track.streams.marker_frame import MarkerFrame
from homodyn.track.streams.marker_source import MarkerSource
from homodyn.track.streams.open_source import SourceOptions, open_source
from homodyn.track.streams.qtm_source import QtmSource
from homodyn.track.streams.spot_calibration import calibrate_on_the_spot
from homodyn.track.streams.stream_errors import PacketError, StreamEnd, StreamError
from homodyn.track.streams.udp_source import UdpSource
from homodyn.track.streams.websocket_source import WebSocketClientSource, WebSocketServerSource

__all__ = [
    "CausalFilter",
    "FilePlayer",
    "FilteredMarkers",
    "GroundContact",
    "LatencySummary",
    "LiveOptions",
    "LiveSample",
    "LiveSession",
    "LiveState",
    "LiveSummary",
    "LslSource",
    "MarkerFrame",
    "MarkerSource",
    "PacketError",
    "QtmSource",
    "SourceOptions",
    "StreamEnd",
    "StreamError",
    "UdpSource",
    "WebSocketClientSource",
    "WebSocketServerSource",
    "calibrate_on_the_spot",
    "open_source",
    "outputs",
]
