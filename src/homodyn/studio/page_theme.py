"""Light and dark pages: the theme that was chosen in View, or the one that the system prefers.

The script of the page stores the preferred color scheme of its browser in the local storage. The
server reads it when a page connects, and again when the script requests `CHANGE_PATH` because the
preference has changed. The theme is sent to each page separately: pages on different machines may
prefer different ones.
"""

from __future__ import annotations

import threading

import viser

from homodyn.studio.access_gate import AccessGate
from homodyn.studio.view_options import DARK, LIGHT, SYSTEM

PREFERENCE_KEY = "homodyn-color-scheme"
"""Key of the local storage; its value is ``"dark"`` or ``"light"``."""
CHANGE_PATH = "/homodyn/color-scheme"
"""Path that a page requests when its preference has changed."""
ANSWER_TIMEOUT_S = 30.0
"""Time (s) within which a page must answer; it stays light otherwise."""
BRAND_COLOR = (64, 110, 180)


class PageThemes:
    """The theme of every connected page."""

    def __init__(self, server: viser.ViserServer, gate: AccessGate) -> None:
        self._server = server
        self._theme = SYSTEM
        self._prefers_dark: dict[int, bool] = {}
        """Preference of each page, by client id."""
        self._last_preference = False
        """Preference of the page that answered last, assumed for new pages until they answer."""
        server.on_client_connect(self._on_connect)
        server.on_client_disconnect(self._on_disconnect)
        gate.routes[CHANGE_PATH] = self._on_change

    def choose(self, theme: str) -> None:
        """Use a theme on all pages: ``"system"``, ``"light"`` or ``"dark"``."""
        self._theme = theme
        for client in self._server.get_clients().values():
            self._send(client)

    def is_dark(self, client: viser.ClientHandle) -> bool:
        """Whether a page is dark."""
        if self._theme != SYSTEM:
            return self._theme == DARK
        return self._prefers_dark.get(client.client_id, self._last_preference)

    def _on_connect(self, client: viser.ClientHandle) -> None:
        self._send(client)
        self._read_preference(client)

    def _on_disconnect(self, client: viser.ClientHandle) -> None:
        self._prefers_dark.pop(client.client_id, None)

    def _on_change(self) -> None:
        """Read the preferences of all pages again, outside the event loop of the server."""
        for client in self._server.get_clients().values():
            threading.Thread(
                target=self._read_preference, args=(client,), daemon=True, name="theme"
            ).start()

    def _read_preference(self, client: viser.ClientHandle) -> None:
        try:
            value = client.local_storage.get_item(PREFERENCE_KEY, timeout=ANSWER_TIMEOUT_S)
        except (RuntimeError, TimeoutError):
            # The page was closed, or its browser has no local storage.
            value = LIGHT
        self._prefers_dark[client.client_id] = self._last_preference = value == DARK
        self._send(client)

    def _send(self, client: viser.ClientHandle) -> None:
        client.gui.configure_theme(
            dark_mode=self.is_dark(client),
            show_logo=False,
            show_share_button=False,
            brand_color=BRAND_COLOR,
            control_width="large",
        )
