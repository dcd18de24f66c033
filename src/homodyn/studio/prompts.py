"""Dialogs: confirmation before unsaved work is closed, and recovery of unsaved work."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from homodyn.errors import HomodynError
from homodyn.foundation import count_of
from homodyn.foundation.markup import escape_markup
from homodyn.studio.autosave import RecoverableWork
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.session_store import merge_documents, read_session
from homodyn.studio.studio_page import StudioPage

MAX_OFFERED_SESSIONS = 5
"""Earlier sessions that are offered one after the other."""


def ask(
    studio: StudioPage, title: str, sentence: str, answers: Mapping[str, Callable[[], None]]
) -> None:
    """Show a dialog on every page; the first answer counts and closes it."""
    gui = studio.server.gui
    modal = gui.add_modal(title)
    with modal:
        MarkdownText(gui, sentence)
        for k, (label, work) in enumerate(answers.items()):
            button = gui.add_button(label, color=None if k == 0 else "gray")

            def on_answer(event: object, work: Callable[[], None] = work) -> None:
                modal.close()
                studio.attempt(work)

            button.on_click(on_answer)


def offer_recovery(studio: StudioPage, works: Sequence[RecoverableWork]) -> None:
    """Ask whether to open unsaved work of earlier sessions, the newest first."""
    if not works:
        return
    first, *others = works
    names = ", ".join(_names(first)) or "the files cannot be read"
    older = count_of(len(others), "older session")
    more = f" {older} will be offered next." if others else ""

    def open_work() -> None:
        # Models refer to files beside them, and the folder is about to be deleted.
        copy = Path(shutil.copytree(first.folder, studio.uploads / first.folder.name))
        document = read_session(copy)
        # The work counts as unsaved, because it is not in a file of the user.
        studio.session.change("open unsaved work", lambda now: merge_documents(now, document))
        if studio.autosave is not None:
            studio.autosave.write()
        first.delete()
        studio.notify("Opened", f"unsaved work of {first.when:%d %B, %H:%M}")
        offer_recovery(studio, others[:MAX_OFFERED_SESSIONS])

    def delete_work() -> None:
        first.delete()
        offer_recovery(studio, others[:MAX_OFFERED_SESSIONS])

    ask(
        studio,
        "Unsaved work was found",
        f"The session of {first.when:%d %B, %H:%M} ended with unsaved work: "
        f"**{escape_markup(names)}**.{more}",
        {"Open": open_work, "Delete": delete_work, "Ask again next time": lambda: None},
    )


def _names(work: RecoverableWork) -> tuple[str, ...]:
    try:
        document = work.read()
    except HomodynError:
        return ()
    return tuple(dict.fromkeys((*document.names, *(trial.name for trial in document.trials))))
