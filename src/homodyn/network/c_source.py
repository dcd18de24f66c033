"""A network as C without dependencies, and its header.

The C functions are ``prepare``, which sets the default parameters; ``init``, which computes the
initial values; ``diff``, the rates of the states; ``post``, all variables; and ``step``, one
attempt of a step with its events, as in a run in Python.
"""

from __future__ import annotations

import re
from pathlib import Path

import casadi as ca
import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation import write_text
from homodyn.network import c_history
from homodyn.network.c_functions import array_lines, graph_functions, number_text
from homodyn.network.step_kernels import StepKernels


def write_c(
    kernels: StepKernels, values: np.ndarray, path: Path, name: str | None, timestep: float
) -> tuple[Path, Path]:
    """Write a network as C.

    Args:
        kernels: Kernels of the network.
        values: Parameters.
        path: The C file; its header is written to the same folder.
        name: Prefix of the C names; the stem of the file by default.
        timestep: Time step (s), which determines the length of the history of delayed values.

    Returns:
        Paths of the C file and the header.

    Raises:
        NetworkError: The name is not a C identifier, or an operation has no C form.
        FormatError: A file cannot be written.
    """
    label = name or re.sub(r"\W", "_", path.stem)
    if not re.fullmatch(r"[A-Za-z_]\w*", label):
        raise NetworkError(f"{label!r} is not a C identifier; pass name=")
    header = path.with_suffix(".h")
    history = c_history.history_steps(kernels, values, timestep) if kernels.delay_slots else 0
    texts = {
        header: _header(kernels, label, history),
        path: _source(kernels, label, values, header.name),
    }
    for file, text in texts.items():
        write_text(file, text)
    return path, header


def _comment(text: str) -> str:
    return text.replace("*/", "* /")


def _variables(kernels: StepKernels) -> list[tuple[str, int, ca.SX]]:
    listed = []
    begin = 0
    for path, variable in kernels.system.variables.items():
        value = kernels.system.value(variable)
        listed.append((path, begin, value))
        begin += value.numel()
    return listed


def _enum(label: str, kind: str, entries: list[tuple[str, int]], count: int) -> str:
    lines = [
        f"    {label}_{kind}_{re.sub(r'[^A-Za-z0-9_]', '_', path)} = {at},  /* {_comment(path)} */"
        for path, at in entries
    ]
    names = [line.split(" = ")[0] for line in lines]
    if len(set(names)) < len(names) or not all(name.isascii() for name in names):
        lines = [
            f"    {label}_{kind}_{k} = {at},  /* {_comment(path)} */"
            for k, (path, at) in enumerate(entries)
        ]
    lines.append(f"    {label}_{kind}_count = {count}")
    return "enum {\n" + "\n".join(lines) + "\n};\n"


def _header(kernels: StepKernels, label: str, history: int) -> str:
    system = kernels.system
    listed = _variables(kernels)
    total = sum(value.numel() for _, _, value in listed)
    states = [(each.path, system.slot(each, "x")[0]) for each in system.states]
    parameters = [(each.path, system.slot(each)[0]) for each in system.numbers]
    guard = f"{label.upper()}_H"
    past = f"""\
/* Steps of history for delayed values: the longest delay divided by the time step, plus spare. */
#ifndef {label}_HISTORY
#define {label}_HISTORY {history}
#endif
"""
    return f"""\
#ifndef {guard}
#define {guard}

{past if history else ""}
/* Offsets of parameters, states and variables in the arrays below; matrices by columns. */
{_enum(label, "p", parameters, kernels.parameter_count)}\
{_enum(label, "x", states, kernels.rates.size1_out(0))}\
{_enum(label, "v", [(path, begin) for path, begin, _ in listed], total)}
typedef struct {{
    double p[{kernels.parameter_count}];   /* parameters and constant initial values */
    double c[{kernels.size}];         /* everything that changes; states first */
    double run[3];                    /* start, time step and number of steps */
    double done;                      /* nonzero when the run has ended */
    double d[{kernels.delayed_count}];      /* current delayed values */
{c_history.struct_fields(kernels, label) if history else ""}}} {label}_t;

void {label}_prepare({label}_t *net);
void {label}_init({label}_t *net, double start, double timestep, double steps);
void {label}_diff(const {label}_t *net, double *rates);
void {label}_post(const {label}_t *net, double *variables);
/* One attempt of a step; nonzero if it completed a step. */
int {label}_step({label}_t *net);
double {label}_time(const {label}_t *net);

#endif
"""


def _source(kernels: StepKernels, label: str, values: np.ndarray, header: str) -> str:
    cut = kernels.slices
    x, h = cut["x"], cut["h"]
    begin = after = ""
    before = f"    static const double none[{3 * kernels.delayed_count}];\n"
    delayed = "none"
    if kernels.delay_slots:
        begin, after, delayed = c_history.INIT_STATEMENTS, c_history.after_step(label), "given"
        before = c_history.before_step(kernels, label)
    time = f"net->run[0] + net->c[{cut['k'].start}] * net->run[1] + net->c[{cut['s'].start}]"
    return f"""\
/* {_comment(label)}: {len(kernels.system.states)} states, {len(kernels.events)} events. */
#include "{header}"

#include <math.h>
#include <string.h>

{_static_functions(kernels, label)}
{_constants(kernels, values)}

void {label}_prepare({label}_t *net)
{{
    memcpy(net->p, parameters, sizeof net->p);
    memcpy(net->c, column, sizeof net->c);
    memset(net->d, 0, sizeof net->d);
    net->done = 0;
}}

void {label}_init({label}_t *net, double start_time, double timestep, double steps)
{{
    memcpy(net->c, column, sizeof net->c);
    net->run[0] = start_time;
    net->run[1] = timestep;
    net->run[2] = steps;
    net->done = steps <= 0;
    start(net->p, draws, &start_time, net->c + {x.start}, net->c + {h.start});
{begin}}}

double {label}_time(const {label}_t *net)
{{
    return {time};
}}

void {label}_diff(const {label}_t *net, double *rates)
{{
    double t = {label}_time(net);
    rates_of(net->c, net->p, &t, net->d, rates);
}}

void {label}_post(const {label}_t *net, double *variables)
{{
    double t = {label}_time(net);
    variables_of(net->c, net->p, &t, net->d, variables);
}}

int {label}_step({label}_t *net)
{{
    double next[{kernels.size}], done;
    if (net->done)
        return 0;
{before}    attempt(net->c, &net->done, net->p, net->run, {delayed}, next, &done);
    memcpy(net->c, next, sizeof next);
    net->done = done;
{after}    return net->c[{cut["row"].start}] != 0;
}}
"""


def _static_functions(kernels: StepKernels, label: str) -> str:
    """The graphs of a step, of rates, of variables and of delayed values as C functions."""
    c = ca.SX.sym("c", kernels.size)
    p = ca.SX.sym("p", kernels.parameter_count)
    t = ca.SX.sym("t")
    d = ca.SX.sym("d", kernels.delayed_count)
    part = {name: c[where] for name, where in kernels.slices.items()}
    base = [part["x"], part["h"], part["e"], p, kernels.draws(part["u"]), d, t]
    variables = ca.vertcat(*[ca.vec(value) for _, _, value in _variables(kernels)] or [ca.SX(0)])
    observed = ca.Function("post", kernels.symbols, [variables])
    diff_graph = ca.Function("diff", [c, p, t, d], [kernels.rates(*base)])
    post_graph = ca.Function("post", [c, p, t, d], [observed(*base)])
    ports = ("c", "p", "t", "d")
    graphs = [
        ("start", kernels.begin.traced.graph, ("p", "u", "t")),
        ("attempt", kernels.attempt.traced.graph, ("c", "done", "p", "run", "d")),
        ("rates_of", diff_graph, ports),
        ("variables_of", post_graph, ports),
    ]
    past = ""
    if kernels.delay_slots:
        graphs.append(("delays_of", kernels.delay_kernel.traced.graph, ports))
        graphs.append(("before_start", kernels.delay_start_kernel.traced.graph, ports))
        past = c_history.history_functions(kernels, label)
    return "\n".join([*graph_functions(graphs), past])


def _constants(kernels: StepKernels, values: np.ndarray) -> str:
    """Parameters, the first column and the first random numbers as C arrays."""
    arrays = {
        "parameters": values,
        "column": kernels.initial_state(0, 1, values, 0.0)[0],
        "draws": kernels.first_draws(0)[2],
    }
    return "\n".join(
        line
        for name, numbers in arrays.items()
        for line in array_lines(
            f"static const double {name}[]", [number_text(float(x)) for x in numbers], indent=0
        )
    )
