"""Findings on a recording in short form."""

from homodyn.studio.panels.health import headline, summary


def test_findings_have_short_headlines(walk_document):
    from homodyn import capture

    found = capture.check_health(walk_document.trial)
    assert "warning" in summary(found)
    assert headline(found.findings[0]).startswith("gap: LELB, LWRA")
