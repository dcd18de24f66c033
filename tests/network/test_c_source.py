"""Networks as C: the generated code compiles without dependencies and runs as in Python."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from homodyn.errors import NetworkError
from homodyn.network import load, parse

FOLDER = Path(__file__).parents[2] / "examples" / "networks"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

MAIN = """
#include <stdio.h>
#include "net.h"
int main(void)
{
    static net_t net;
    double v[net_v_count], rates[net_x_count];
    net_prepare(&net);
    CHANGE
    net_init(&net, 0, STEP, STEPS);
    while (!net.done)
        net_step(&net);
    net_post(&net, v);
    net_diff(&net, rates);
    printf("%.17g\\n", net_time(&net));
    for (int k = 0; k < net_v_count; k++)
        printf("%.17g\\n", v[k]);
    for (int k = 0; k < net_x_count; k++)
        printf("%.17g\\n", rates[k]);
    return 0;
}
"""


def run_c(net, folder, t_end, dt, change=""):
    net.to_c(folder / "net.c")
    main = MAIN.replace("STEPS", repr(t_end / dt)).replace("STEP", repr(dt))
    (folder / "main.c").write_text(main.replace("CHANGE", change))
    program = folder / "program"
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    command = [COMPILER, *strict, "main.c", "net.c", "-lm", "-o", str(program)]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    return np.array(done.stdout.split(), dtype=float)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["slip", "traveling_wave", "pogo"])
def test_generated_c_runs_on_its_own_like_a_run_in_python(tmp_path, name):
    net = load(FOLDER / f"{name}.cdn")
    found = run_c(net, tmp_path, 1.0, 0.001)
    record = net.run(1.0, 0.001)
    expected = [record.t[-1], *[record[one][-1] for one in record.names]]
    scale = np.maximum(1, np.abs(expected))
    assert np.max(np.abs(found[: len(expected)] - expected) / scale) < 1e-9
    assert len(found) == len(expected) + len(net.system.states)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_parameters_may_be_changed_after_prepare(tmp_path):
    net = load(FOLDER / "slip.cdn")
    found = run_c(net, tmp_path, 7.0, 0.001, "net.p[net_p_slip_aoa] = 0.3490658503988659;")
    steps = net.set({"slip.aoa": 0.3490658503988659}).run(7)
    assert found[0] == pytest.approx(steps.t[-1], abs=1e-6)
    assert found[1 + steps.names.index("slip.steps")] == 1


LOOKING_BACK = """
integrator { method = "runge-kutta" default-timestep = "0.01" }
k = 2
lag = 0.35
x = 1
x' = "-k * delayed[x, cos(t)](lag)"
both = "delayed[[x; t], [9; -9]](0.5 * lag)"
node "n" {
    y = 1
    y'' = "-9.81 + delayed[x](0.1)"
    event any to "up" when "y < 0" within 1e-6 { set dy = "-0.9 * dy" }
}
"""


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("t_end", [0.2, 2.0])
def test_delayed_values_work_in_c(tmp_path, t_end):
    net = parse(LOOKING_BACK)
    found = run_c(net, tmp_path, t_end, 0.01)
    record = net.run(t_end, 0.01)
    expected = np.concatenate([record.t[-1:], *[np.ravel(record[n][-1]) for n in record.names]])
    np.testing.assert_allclose(found[: len(expected)], expected, rtol=0, atol=1e-9)
    assert len(record.events) == (0 if t_end < 0.4 else 3)


def test_names_that_c_cannot_have_are_refused(tmp_path):
    with pytest.raises(NetworkError, match="pass name="):
        parse("a = 1\n").to_c(tmp_path / "1.c")
