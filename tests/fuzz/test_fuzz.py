"""A fixed number of mutated inputs of every reader; `make fuzz` reads more."""

import os
import time
from dataclasses import replace

import pytest

from fuzz import campaign, targets
from fuzz.campaign import FINDINGS, fuzz
from fuzz.targets import TARGETS
from homodyn.errors import FormatError

SLOW = {"lua": 8, "cdn": 20, "study": 15, "osim": 40}
"""Inputs of readers that take longer than the others."""


def planted(monkeypatch, read, **changes):
    """Fuzz a reader with a planted fault."""
    target = replace(TARGETS["label_map"], read=read, **changes)
    monkeypatch.setitem(targets.TARGETS, "label_map", target)
    return fuzz("label_map", 20)


@pytest.mark.parametrize("name", TARGETS)
def test_readers_accept_or_refuse_in_a_sentence(name):
    report = fuzz(name, SLOW.get(name, 60))
    assert report.inputs == SLOW.get(name, 60)
    assert not report.findings
    assert report.counts["accepted"]
    assert report.counts["refused"]


def test_inputs_are_the_same_for_the_same_seed():
    target = TARGETS["trc"]
    files = target.seeds()
    one, two, other = (
        [campaign.mutated_input(target, files, seed, k)[0] for k in range(20)] for seed in (1, 1, 2)
    )
    assert one == two != other


def mutated_only(fault):
    """A reader that accepts the valid file and has a fault with all others."""

    def read(path):
        if path.read_bytes() != TARGETS["label_map"].seeds()[0]:
            return fault(path)
        return {}

    return read


def test_planted_tracebacks_are_found(monkeypatch):
    report = planted(monkeypatch, mutated_only(lambda path: {}["no key"]))
    assert report.counts["traceback"] > 10
    assert "KeyError" in report.findings[0][2]


def test_planted_crashes_are_found_and_the_campaign_continues(monkeypatch):
    report = planted(monkeypatch, mutated_only(lambda path: os.abort()))
    assert report.counts["crash"] > 10
    assert report.inputs == 20


def test_planted_hangs_are_found(monkeypatch):
    monkeypatch.setattr(campaign, "HANG_S", 0.05)

    def hang(path):
        end = time.process_time() + 60
        while time.process_time() < end:
            pass

    assert planted(monkeypatch, mutated_only(hang)).counts["hang"] > 10


def test_planted_silent_errors_and_bad_messages_are_found(monkeypatch):
    def refuse(message):
        def fail(path):
            raise FormatError(message)

        return fail

    def check(labels):
        targets._require(labels != {"wrong": 1}, "wrong labels")

    report = planted(monkeypatch, mutated_only(lambda path: {"wrong": 1}), check=check)
    assert report.counts["silent"] > 10
    report = planted(monkeypatch, mutated_only(refuse("no file is named")))
    assert report.counts["message"] > 10
    assert set(FINDINGS) > {"silent", "message"}
