"""The life cycle of native code: cache key, look-up, build and load, and the policy of tiers.

Kernels, lazy kernels and scans each own a `NativeCode` for every library they use. Two tiers
evaluate a traced function: CasADi's virtual machine ("interpreted") and native code ("compiled").
``HOMODYN_TIER`` forces one of them.
"""

from __future__ import annotations

import os
import threading
import warnings
from abc import ABC, abstractmethod
from typing import Generic, Literal, TypeVar

from homodyn.errors import KernelError
from homodyn.symbolic import cache
from homodyn.symbolic.codegen import CSource
from homodyn.symbolic.compiler import (
    COMPILER_FLAGS,
    CompileFailed,
    Compiler,
    build,
    find_compiler,
)
from homodyn.symbolic.threads import thread_count

Tier = Literal["", "interpreted", "compiled"]
_TIERS: dict[str, Tier] = {"": "", "interpreted": "interpreted", "compiled": "compiled"}

L = TypeVar("L")


def forced_tier() -> Tier:
    """The tier that ``HOMODYN_TIER`` forces.

    Returns:
        "interpreted", "compiled", or "" when the choice is free.

    Raises:
        KernelError: The variable has another value.
    """
    value = os.environ.get("HOMODYN_TIER", "")
    if value not in _TIERS:
        raise KernelError(f"HOMODYN_TIER is {value!r}; it may be interpreted or compiled")
    return _TIERS[value]


class NativeCode(ABC, Generic[L]):
    """One shared library: found in the cache or built, then loaded once.

    Subclasses say what the library is: its key, its source and how it is loaded. They do not refer
    to their owner, so that both are freed as soon as the owner is no longer used.

    Args:
        label: What runs on the virtual machine when there is no library, for warnings.
        flags: Flags of the C compiler.
    """

    def __init__(self, label: str, flags: tuple[str, ...] = COMPILER_FLAGS) -> None:
        self.label = label
        self.library: L | None = None
        self.failure = ""
        """Why there is no native code; empty while an attempt is possible."""
        self.build_thread: threading.Thread | None = None
        """The thread of `build_in_thread`, once that was called."""
        self._flags = flags
        self._lock = threading.Lock()
        self._keys: dict[str, str] = {}

    @abstractmethod
    def make_key(self, compiler: Compiler) -> str:
        """The cache key: a hash of everything the library depends on."""

    @abstractmethod
    def make_source(self, compiler: Compiler) -> CSource | None:
        """The C source; None where this form is not worth building."""

    @abstractmethod
    def load(self, content: bytes) -> L:
        """The callable object of a library, given as bytes."""

    def key(self, compiler: Compiler) -> str:
        """The cache key, computed once per compiler."""
        if compiler.identity not in self._keys:
            self._keys[compiler.identity] = self.make_key(compiler)
        return self._keys[compiler.identity]

    def disable(self, reason: str) -> None:
        """Use the virtual machine from now on."""
        self.failure = reason

    @property
    def is_allowed(self) -> bool:
        """Whether native code may serve calls.

        Raises:
            KernelError: ``HOMODYN_TIER`` has an unknown value.
        """
        return forced_tier() != "interpreted" and not self.failure

    def look_up(self) -> L | None:
        """The library if it is loaded or in the cache; nothing is built."""
        compiler = None if self.library is not None else find_compiler()
        if compiler is not None and (cache.folder() / self.key(compiler)).is_dir():
            content = cache.find(self.key(compiler))
            if content is not None:
                self.library = self.load(content)
        return self.library

    def build(self, threads: int | None = None) -> L | None:
        """The library: loaded, from the cache, or built now; None when that is impossible.

        A failure is reported once by a warning; the virtual machine serves from then on.
        """
        if self.library is not None or self.failure:
            return self.library
        compiler = find_compiler()
        if compiler is None:
            _report_missing_compiler()
            return None
        with self._lock:
            if self.look_up() is None and not self.failure:
                self._build(compiler, threads or thread_count())
        return self.library

    def build_in_thread(self) -> None:
        """Start a build in a thread unless one was started before."""
        if self.build_thread is None:
            self.build_thread = threading.Thread(target=self.build, daemon=True)
            self.build_thread.start()

    def _build(self, compiler: Compiler, threads: int) -> None:
        source = self.make_source(compiler)
        if source is None:
            self.disable("this form is not worth building")
            return
        try:
            content = build_library(self.key(compiler), source, compiler, threads, self._flags)
            self.library = self.load(content)
        except (CompileFailed, OSError) as error:
            self.disable(str(error))
            warnings.warn(f"{self.label} stays on the virtual machine: {error}", stacklevel=4)


def build_library(
    key: str,
    source: CSource,
    compiler: Compiler,
    threads: int,
    flags: tuple[str, ...] = COMPILER_FLAGS,
    deadline: float | None = None,
) -> bytes:
    """Build a library and store it in the cache.

    Args:
        key: Its cache key.
        source: Its C source.
        compiler: The C compiler.
        threads: Files that are compiled at the same time.
        flags: Flags of the compiler.
        deadline: Time (s, of `time.monotonic`) after which the build fails.

    Returns:
        The bytes of the library.

    Raises:
        CompileFailed: The compiler failed or the deadline passed.
    """
    content, remark = cache.store(
        key, lambda target: build(source, compiler, target, threads, flags, deadline)
    )
    if remark:
        warnings.warn(remark, stacklevel=5)
    return content


_missing_compiler_reported = False


def _report_missing_compiler() -> None:
    """Warn, once per process, that nothing can be compiled."""
    global _missing_compiler_reported
    if not _missing_compiler_reported:
        _missing_compiler_reported = True
        warnings.warn(
            "no C compiler was found ($CC, cc, gcc, clang): kernels run on CasADi's virtual "
            "machine, correct but many times slower",
            stacklevel=5,
        )
