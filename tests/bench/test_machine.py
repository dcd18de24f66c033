"""The description of the machine."""

import json

from homodyn.bench.machine import describe, processor, versions


def test_the_machine_has_a_processor_and_versions():
    assert processor()
    assert set(versions()) >= {"numpy", "casadi"}
    assert versions(("no-such-package",)) == {}


def test_the_description_of_the_machine_is_ready_for_json():
    description = describe()
    assert json.loads(json.dumps(description)) == description
    assert {"cpu", "cores", "instruction_set", "python", "numpy", "casadi"} <= set(description)
