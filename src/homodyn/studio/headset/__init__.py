"""The headset page: the live body and targets in WebXR, behind the access gate of the studio."""

from homodyn.studio.headset.headset_server import HeadsetServer

__all__ = ["HeadsetServer"]
