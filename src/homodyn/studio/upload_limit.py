"""A limit on the size of uploads: larger ones are refused before they are in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import viser

from homodyn.errors import HomodynError

MAX_UPLOAD_BYTES = 512 * 2**20
"""Size above which an upload is refused."""

Refuse = Callable[[str, int], None]
"""Called with the name and the stated size of an upload that is refused."""


def limit_uploads(server: viser.ViserServer, refuse: Refuse) -> None:
    """Refuse uploads that state a larger size than allowed, or send more than they state.

    viser collects the parts of an upload in memory and has no limit. Its handler of a part ignores
    uploads that it does not know, so that an upload ends when its state is removed.

    Args:
        server: The server.
        refuse: Called for each refused upload.

    Raises:
        HomodynError: This version of viser receives uploads in another way.
    """
    gui: Any = server.gui
    try:
        from viser._messages import FileTransferPart, FileTransferStartUpload

        handlers = gui._websock_interface._incoming_handlers
        states: dict[str, Any] = gui._current_file_upload_states
        starts, parts = handlers[FileTransferStartUpload], handlers[FileTransferPart]
    except (ImportError, AttributeError, KeyError) as error:
        raise HomodynError(
            "uploads cannot be limited with this version of viser; install a supported one: "
            "pip install 'homodyn[studio]'"
        ) from error

    def start(handle: Callable[[int, Any], Any], client_id: int, message: Any) -> Any:
        if not 0 <= message.size_bytes <= MAX_UPLOAD_BYTES:
            refuse(str(message.filename), int(message.size_bytes))
            return None
        return handle(client_id, message)

    def part(handle: Callable[[int, Any], Any], client_id: int, message: Any) -> Any:
        state = states.get(message.transfer_uuid)
        if state is not None:
            received = state["transferred_bytes"] + len(message.content)
            if received > state["total_bytes"]:
                states.pop(message.transfer_uuid, None)
                refuse(str(state["filename"]), received)
                return None
        return handle(client_id, message)

    def wrap(check: Callable[..., Any], handle: Callable[[int, Any], Any]) -> Callable[..., Any]:
        return lambda client_id, message: check(handle, client_id, message)

    starts[:] = [wrap(start, handle) for handle in starts]
    parts[:] = [wrap(part, handle) for handle in parts]
