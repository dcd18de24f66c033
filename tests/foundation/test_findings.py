"""Findings sort by severity and print as sentences."""

from homodyn.foundation import Finding, Severity


def test_findings_sort_by_severity_and_print_as_a_sentence():
    finding = Finding(Severity.WARNING, "inertia", "it is too large")
    assert str(finding) == "warning: inertia: it is too large"
    assert sorted(Severity, key=lambda s: s.rank) == ["error", "warning", "info"]
    assert Finding.from_dict(finding.to_dict()) == finding
