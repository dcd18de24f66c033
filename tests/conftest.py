"""What all tests share: where real recordings are, and that every run repeats the last."""

import os
from pathlib import Path

import hypothesis
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

# Before numpy is first imported: tests run side by side, and algebra with threads of its own would
# wait for cores that others hold.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Tests build native code where they ask for it, never in a process that outlives them.
os.environ["HOMODYN_BACKGROUND"] = "off"
# Before matplotlib is first imported: tests draw into files, never onto a screen.
os.environ["MPLBACKEND"] = "Agg"

hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real recordings, which are not part of the repository."""
    named = os.environ.get("HOMODYN_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        where = f"HOMODYN_DATA={named}" if named else "HOMODYN_DATA is not set and ../shared/data"
        pytest.skip(f"no real recordings: {where} is not a folder")
    return folder
