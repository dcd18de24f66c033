"""Bodies and the physics library as C: the generated code has the rates of the network."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from homodyn.model import Assembly, Body, joints
from homodyn.network import Network, add_body, load

FOLDER = Path(__file__).parents[2] / "examples" / "networks" / "bodies"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

MAIN = """
#include <stdio.h>
#include "net.h"
int main(void)
{
    static net_t net;
    double rates[net_x_count];
    net_prepare(&net);
    net_init(&net, 0, 0.001, 100);
    while (!net.done)
        net_step(&net);
    net_diff(&net, rates);
    for (int k = 0; k < net_x_count; k++)
        printf("%.17g\\n", rates[k]);
    return 0;
}
"""


def leg():
    link = (2.0, (0, 0, -0.2), np.diag([0.05, 0.05, 0.01]))
    tree = Assembly("leg").add(Body("thigh", *link), joints.revolute("y"), joint_name="hip")
    tree = tree.add(Body("shank", *link), joints.spherical(), "thigh", at=(0, 0, -0.4))
    net = Network(method="runge-kutta")
    add_body(net, "leg", tree.model()).node("hip").variable("q0", 0.4)
    return net


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["n_pendulum", "four_bar", "leg"])
def test_c_of_bodies_ends_with_the_rates_of_the_network(tmp_path, name):
    net = leg() if name == "leg" else load(FOLDER / f"{name}.cdn")
    net.to_c(tmp_path / "net.c")
    (tmp_path / "main.c").write_text(MAIN)
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    program = tmp_path / "program"
    command = [COMPILER, *strict, "main.c", "net.c", "-lm", "-o", str(program)]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    found = np.array(done.stdout.split(), dtype=float)
    for variable in net.system.states:
        variable.owner.variable(f"{variable.name}_rate", f"{variable.name}'")
    record = net.run(0.1, 0.001, tier="interpreted")
    states = [name for name in record.names if f"{name}_rate" in record.names]
    expected = np.concatenate([np.ravel(record[f"{one}_rate"][-1]) for one in states])
    np.testing.assert_allclose(np.sort(found), np.sort(expected), rtol=0, atol=1e-9)


def test_repeated_parts_are_functions_and_loops(tmp_path):
    # Each operation on its own line, and each result, made 6400 lines.
    path, _ = load(FOLDER / "n_pendulum.cdn").to_c(tmp_path / "net.c")
    text = path.read_text()
    lines = text.splitlines()
    assert len(lines) < 1600
    assert max(map(len, lines)) <= 120
    # The rates are evaluated in one function, by which all four stages go.
    assert text.count("sin(") < 30
