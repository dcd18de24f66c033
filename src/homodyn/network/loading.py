"""Loading of networks from files and texts."""

from __future__ import annotations

from pathlib import Path

from homodyn.errors import NetworkError
from homodyn.foundation.guarded_read import describe_failure
from homodyn.foundation.resource_guard import ResourceLimitExceeded, limit_resources
from homodyn.network.builder import NetworkBuilder
from homodyn.network.network import Network
from homodyn.network.search_path import read_text
from homodyn.network.source import SourceText

MAX_EXPANSION_CPU_S = 20.0
"""Processor time (s) in which the text of a network is expanded."""

MAX_EXPANSION_BYTES = 2_000_000_000
"""Memory that the objects of a network may take."""


def load(path: str | Path, *, allow_outside: bool = False) -> Network:
    """Load a network from a ``.cdn`` file.

    Args:
        path: The file, UTF-8 text.
        allow_outside: Allow included files outside the folder of ``path`` and the bundled library.

    Returns:
        The network, ready to set and run.

    Raises:
        NetworkError: The file or an included file cannot be read, or its text is not a valid
            network. The error gives file, line and column.
    """
    file = Path(path)
    return _build(SourceText(read_text(file), str(file)), file.parent, allow_outside)


def parse(text: str, *, name: str = "network", folder: str | Path | None = None) -> Network:
    """Build a network from a text in the ``.cdn`` language.

    Args:
        text: The network text.
        name: Name of the text in error messages.
        folder: Folder of included files; only the bundled library if left out.

    Returns:
        The network, ready to set and run.

    Raises:
        NetworkError: The text is not a valid network, or an included file cannot be read. The error
            gives file, line and column.
    """
    return _build(SourceText(text, name), Path(folder) if folder is not None else None, False)


def _build(source: SourceText, folder: Path | None, outside: bool) -> Network:
    network = Network()
    builder = NetworkBuilder(network, folder, outside=outside)
    try:
        with limit_resources(MAX_EXPANSION_CPU_S, MAX_EXPANSION_BYTES):
            builder.build(source)
    except NetworkError:
        raise
    except ResourceLimitExceeded as error:
        # The objects that were created are part of the reference cycle of the failed build.
        raise source.error(
            f"its expansion needs {error}; reduce generators, selections and templates", 0
        ) from None
    except RecursionError:
        raise source.error("blocks or templates are nested too deeply", 0) from None
    except Exception as error:
        raise source.error(describe_failure(error, "network"), 0) from error
    network.expectations = tuple(builder.expectations)
    return network
