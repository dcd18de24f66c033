"""The exceptions of Homodyn: one small tree, each saying what, where and what would be accepted."""

from __future__ import annotations


class HomodynError(Exception):
    """Anything Homodyn refuses to do, with the reason as its message."""


class ModelError(HomodynError):
    """A body, joint, frame or coordinate that cannot be; ``faults`` lists every reason found."""

    def __init__(self, message: str, faults: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults or (message,)


class FormatError(HomodynError):
    """A file that cannot be read or written; ``path`` and ``place`` say where."""

    def __init__(self, message: str, path: str = "", place: str = "") -> None:
        where = ", ".join(part for part in (path, place) if part)
        super().__init__(f"{where}: {message}" if where else message)
        self.path = path
        self.place = place


class KernelError(HomodynError):
    """A traced function that cannot be turned into a kernel, or a call that does not fit one."""


class NetworkError(HomodynError):
    """A network text that cannot be understood or run, with the place and the line it stands in."""

    def __init__(
        self, message: str, path: str = "", line: int = 0, column: int = 0, text: str = ""
    ) -> None:
        where = f"{path or 'network'}:{line}:{column}: " if line else ""
        caret = f"\n    {text}\n    {' ' * (column - 1)}^" if line and text else ""
        super().__init__(f"{where}{message}{caret}")
        self.message = message
        self.path = path
        self.line = line
        self.column = column


class CaptureError(HomodynError):
    """A recording that cannot be used as it is, with what would help."""


class NoSolution(HomodynError):
    """A problem that was stated well and has no answer, or none that was found."""


class SearchError(HomodynError):
    """A search that cannot be done as asked; ``faults`` lists every reason found."""

    def __init__(self, message: str, faults: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults or (message,)
