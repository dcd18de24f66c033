"""The verdicts at the top of a page."""

from homodyn.analysis import QualityLight, QualityVerdict
from homodyn.report.verdict_list import verdicts_html


def test_the_worst_light_leads_and_all_sentences_are_shown_escaped():
    found = (
        QualityVerdict(QualityLight.POOR, "fit", "error > 40 mm"),
        QualityVerdict(QualityLight.NOTE, "forces", "no plates"),
    )
    text = verdicts_html(found, "<b>tiles</b>")
    assert 'class="overall poor"' in text
    assert "<b>tiles</b>" in text
    assert "error &gt; 40 mm" in text
    assert "no plates" in text
