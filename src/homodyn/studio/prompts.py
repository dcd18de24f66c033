"""Questions over the page: before work is lost, and about work that a crash left behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from homodyn.errors import HomodynError
from homodyn.studio.autosave import RecoverableWork
from homodyn.studio.session_store import merge_documents, read_session
from homodyn.studio.studio_page import StudioPage

MAX_OFFERED_SESSIONS = 5
"""Sessions that are offered at once."""


def ask(
    studio: StudioPage, title: str, sentence: str, answers: Mapping[str, Callable[[], None]]
) -> None:
    """Ask on every page; the first answer that is given counts and closes the question."""
    gui = studio.server.gui
    modal = gui.add_modal(title)
    with modal:
        gui.add_markdown(sentence)
        for place, (word, work) in enumerate(answers.items()):
            button = gui.add_button(word, color=None if place == 0 else "gray")

            def answered(event: object, work: Callable[[], None] = work) -> None:
                modal.close()
                studio.attempt(work)

            button.on_click(answered)


def offer_recovery(studio: StudioPage, left: Sequence[RecoverableWork]) -> None:
    """Ask whether to open work that was not saved when a studio ended, the newest first."""
    if not left:
        return
    first, *others = left
    names = ", ".join(_names(first)) or "nothing that can be read"
    more = f" {len(others)} older such session(s) will be offered next." if others else ""

    def opened() -> None:
        # Models refer to files beside them, and what is left behind is about to be removed.
        home = Path(shutil.copytree(first.folder, studio.uploads / first.folder.name))
        document = read_session(home)
        # Not as opened: it is in no file that the person chose.
        studio.session.change("open unsaved work", lambda now: merge_documents(now, document))
        if studio.autosave is not None:
            studio.autosave.write()
        first.forget()
        studio.notify("Opened", f"unsaved work of {first.when:%d %B, %H:%M}")
        offer_recovery(studio, others[:MAX_OFFERED_SESSIONS])

    def forgotten() -> None:
        first.forget()
        offer_recovery(studio, others[:MAX_OFFERED_SESSIONS])

    ask(
        studio,
        "Unsaved work was found",
        f"A studio ended on {first.when:%d %B at %H:%M} with work that was not saved: "
        f"**{names}**.{more}",
        {"Open it": opened, "Forget it": forgotten, "Ask again next time": lambda: None},
    )


def _names(left: RecoverableWork) -> tuple[str, ...]:
    try:
        document = left.read()
    except HomodynError:
        return ()
    return tuple(dict.fromkeys((*document.names, *(trial.name for trial in document.trials))))
