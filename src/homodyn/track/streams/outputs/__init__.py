"""Outputs of live sessions: files, streams of the Lab Streaming Layer, and WebSocket."""

from homodyn.track.streams.outputs.live_output import LiveOutput
from homodyn.track.streams.outputs.lsl_output import LslOutput
from homodyn.track.streams.outputs.marker_file import MarkerFile
from homodyn.track.streams.outputs.result_files import ResultFiles
from homodyn.track.streams.outputs.websocket_output import WebSocketOutput

__all__ = ["LiveOutput", "LslOutput", "MarkerFile", "ResultFiles", "WebSocketOutput"]
