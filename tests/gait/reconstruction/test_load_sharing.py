"""Terms that resolve the ground forces of both feet."""

import homodyn as hd
from homodyn.gait.contact_schedule import FootContact, FootContactPhase
from homodyn.gait.reconstruction.load_sharing import aimed_forces, smooth_transition

SCHEDULE = (
    FootContactPhase(0.0, 0.3, FootContact.FLAT, FootContact.SWING),
    FootContactPhase(0.3, 0.4, FootContact.FOREFOOT, FootContact.HEEL),
    FootContactPhase(0.4, 0.5, FootContact.FOREFOOT, FootContact.FLAT),
)


def test_only_double_support_has_a_transition():
    model = hd.catalog.heiman(height=1.75, mass=70)
    counts = [len(smooth_transition(model, SCHEDULE, k)) for k in range(3)]
    assert counts == [0, 1, 1]
    assert aimed_forces(model, SCHEDULE[1]).weight == aimed_forces(model, SCHEDULE[0]).weight > 0
