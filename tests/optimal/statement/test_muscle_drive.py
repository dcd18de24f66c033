"""Muscles as a statement of a problem."""

from dataclasses import replace

import pytest

import homodyn as hd
import homodyn.optimal as oc
from homodyn.muscle.models import DeGrooteFregly2016
from support import muscled_leg

LEG = muscled_leg.build()
NAMES = tuple(muscled_leg.LINES)


def phase(**options):
    return oc.Phase("p", 0.2, intervals=2, **options)


def with_settings(model, name, **settings):
    muscles = [
        replace(one, settings={**one.settings, **settings}) if one.name == name else one
        for one in model.muscles
    ]
    return replace(model, muscles=tuple(muscles))


def test_variables_follow_the_settings_of_the_muscles():
    model = with_settings(LEG, "vastus", ignore_tendon_compliance=True)
    model = with_settings(model, "rectus", ignore_activation_dynamics=True)
    drive = oc.MuscleDrive()
    others = tuple(name for name in NAMES if name != "vastus")
    assert drive.variable_names(model, "excitation") == NAMES
    assert drive.variable_names(model, "tendon_force") == others
    assert drive.variable_names(model, "tendon_force_rate") == others
    assert "rectus" not in drive.variable_names(model, "activation")
    assert len(drive.variable_names(model, "activation")) == 5
    assert oc.MuscleDrive(tendon="rigid").variable_names(model, "tendon_force") == ()
    problem = oc.Problem(model, [phase()], muscles=drive).transcribe()
    assert sum("excitation of" in name for name in problem.names) == 2 * 6
    assert sum("tendon_force of" in name for name in problem.names) == 3 * 5
    assert sum("activation of" in name for name in problem.names) == 3 * 5
    assert not any("tau of" in name for name in problem.names)
    assert "MuscleDrive: tendons file" in problem.describe()


def test_faults_say_what_is_accepted():
    thelen = muscled_leg.build("Thelen2003Muscle")
    with pytest.raises(
        hd.ModelError, match=r"'iliopsoas' has a compliant tendon and Thelen.*rigid"
    ):
        oc.Problem(thelen, [phase()], muscles=oc.MuscleDrive())
    smooth = oc.MuscleDrive(muscle_model=DeGrooteFregly2016())
    assert oc.Problem(thelen, [phase()], muscles=smooth).muscles is smooth
    with pytest.raises(hd.ModelError, match="has no muscles"):
        oc.Problem(replace(LEG, muscles=()), [phase()], muscles=oc.MuscleDrive())
    with pytest.raises(hd.HomodynError, match=r"guess of 'activation', but no muscles act"):
        oc.Problem(LEG, [phase(guess={"activation": 0.1})])
    few = replace(LEG, muscles=LEG.muscles[:2])
    fitted = hd.muscle.fit_polynomials(few, max_order=2)
    with pytest.raises(hd.ModelError, match=r"fitted to 2 muscles.*has 6 muscles"):
        oc.Problem(LEG, [phase()], muscles=oc.MuscleDrive(paths=fitted))
    compliant = oc.Problem(LEG, [phase()], muscles=oc.MuscleDrive())
    with pytest.raises(hd.HomodynError, match=r"'iliopsoas' has a compliant tendon.*midpoint"):
        compliant.transcribe("multiple_shooting")
    with pytest.raises(hd.HomodynError, match="'felis2015' has no states of muscles"):
        compliant.transcribe("felis2015")
    with pytest.raises(hd.HomodynError, match="steps of activations are implicit"):
        compliant.solve(solver="fatrop")
    term = oc.ObjectiveTerm("effort", lambda i: i.muscles.activation)
    with pytest.raises(hd.ModelError, match="not driven by muscles"):
        oc.Problem(LEG, [phase(terms=[term])]).transcribe()
    with pytest.raises(
        hd.HomodynError, match=r"excitation term: there is no muscle 'vasti'|'vasti'"
    ):
        oc.Problem(
            LEG, [phase(terms=[oc.excitation(weights={"vasti": 2.0})])], muscles=oc.MuscleDrive()
        ).transcribe()
    with pytest.raises(hd.HomodynError, match="1 or more is accepted"):
        oc.activation(power=0.5)
    with pytest.raises(hd.HomodynError, match="prescribed movement needs q, v and a"):
        phase(prescribed={"q": [0.0, 0.0]})
