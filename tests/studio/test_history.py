"""Undo and redo."""

from homodyn.studio.history import MAX_UNDO_STEPS, History


def test_history_forgets_the_oldest():
    history = History(0)
    for number in range(1, MAX_UNDO_STEPS + 50):
        history = history.push(str(number), number)
    assert len(history.past) == MAX_UNDO_STEPS
    assert history.past[0] == ("50", 49)
