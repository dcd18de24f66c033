"""Options of runs and rollouts, and hints for unknown arguments."""

import pytest

import homodyn as hd
from homodyn.simulate import BatchSimulator, SimulationOptions, rollout, run


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"controller": None}, r"no argument 'controller'; pass a controller as actuation="),
        ({"torques": None}, r"no argument 'torques'; pass torques as actuation="),
        ({"method": "rk4"}, r"no argument 'method'; choose the integration method by integrator="),
        ({"ground": ()}, r"no argument 'ground'; pass obstacles as scene="),
        ({"lane": {}}, r"no argument 'lane'; name batch parameters by batch_parameters="),
        ({"duraton": 1}, r"no argument 'duraton'; did you mean 'duration'"),
        ({"speed": 1}, r"no argument 'speed'; options are scene, events"),
    ],
)
def test_messages_on_unknown_arguments_name_the_right_one(pendulum, arguments, hint):
    for function in (run, rollout):
        with pytest.raises(TypeError, match=hint):
            function(pendulum, [0.0], **arguments)
    with pytest.raises(TypeError, match=hint):
        BatchSimulator(pendulum, **arguments)


def test_keywords_change_fields_of_the_options(pendulum):
    options = SimulationOptions(integrator="rk4", record_interval=0.5)
    result = run(pendulum, [1.0], contact=None, options=options, record_interval=0.25)
    same = run(pendulum, [1.0], contact=None, integrator="rk4", record_interval=0.25)
    assert len(result.time) == 5
    assert (result.q == same.q).all()


def test_invalid_options_are_refused():
    with pytest.raises(hd.ModelError, match="rk4"):
        SimulationOptions(integrator="euler")
    with pytest.raises(hd.ModelError, match="forces, distances"):
        SimulationOptions(recorded_quantities=("sound",))
