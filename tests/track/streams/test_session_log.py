from homodyn.track.streams.session_log import MAX_SENTENCES, SessionLog


def test_repetitions_are_counted():
    shown = []
    log = SessionLog(shown.append)
    for number in range(5):
        log.add(f"no frame for {number}.5 s")
    log.add("other")
    assert shown == ["no frame for 0.5 s", "other"]
    assert log.sentences == ("no frame for 0.5 s (5 times)", "other")
    assert log.newest == "other"


def test_memory_is_limited():
    log = SessionLog()
    for number in range(1000):
        log.add("x" * number)
    assert len(log.sentences) == MAX_SENTENCES
