"""History of delayed values in C: a ring buffer of times and values, interpolated linearly.

The C counterpart of `homodyn.network.run.DelayHistory`, with a fixed number of steps.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from homodyn.network.step_kernels import StepKernels

SPARE_HISTORY_STEPS = 64
"""Steps beyond the longest delay, for steps that events cut."""


def history_steps(kernels: StepKernels, values: np.ndarray, timestep: float) -> int:
    """Number of steps of the history, from the delays at the start."""
    column = kernels.initial_state(0, 1, values, 0.0)[0]
    none = np.zeros(kernels.delayed_count)
    both = np.atleast_1d(kernels.delay_kernel(column, values, np.array(0.0), none))
    longest = float(np.max(both[: len(kernels.delay_slots)], initial=0.0))
    return ceil(longest / timestep) + SPARE_HISTORY_STEPS


def struct_fields(kernels: StepKernels, label: str) -> str:
    """Additional fields of the struct of a network with delays."""
    return f"""\
    double first[{kernels.size}];     /* initial column */
    double delays[{len(kernels.delay_slots)}];
    double times[{label}_HISTORY];    /* ring buffer that begins at oldest */
    double values[{label}_HISTORY][{kernels.delayed_count}];
    int kept, oldest;
"""


def history_functions(kernels: StepKernels, label: str) -> str:
    """C functions: ``look`` computes delayed values at a time, ``keep`` stores the current ones."""
    count, total = len(kernels.delay_slots), kernels.delayed_count
    begins = ", ".join(str(offset) for offset, _ in kernels.delay_slots)
    sizes = ", ".join(str(size) for _, size in kernels.delay_slots)
    return f"""\
static const int begins[] = {{{begins}}}, sizes[] = {{{sizes}}};

static void look(const {label}_t *net, double time, double *d)
{{
    static const double none[{total}];
    const int size = {label}_HISTORY, last = net->kept - 1;
    for (int e = 0; e < {count}; e++) {{
        double t = time - net->delays[e], *to = d + begins[e], before[{total}];
        if (t < net->run[0] || last < 0) {{
            before_start(net->first, net->p, &t, none, before);
            memcpy(to, before + begins[e], sizes[e] * sizeof *to);
            continue;
        }}
        int k = last;
        while (k > 0 && net->times[(net->oldest + k) % size] > t)
            k--;
        const int one = (net->oldest + k) % size, other = (one + 1) % size;
        const double *a = net->values[one] + begins[e], *b = net->values[other] + begins[e];
        double share = 0;
        if (k < last)
            share = (t - net->times[one]) / (net->times[other] - net->times[one]);
        for (int n = 0; n < sizes[e]; n++)
            to[n] = share == 0 ? a[n] : (1 - share) * a[n] + share * b[n];
    }}
}}

static void keep({label}_t *net, double time)
{{
    const int size = {label}_HISTORY;
    double both[{count + total}];
    delays_of(net->c, net->p, &time, net->d, both);
    memcpy(net->delays, both, sizeof net->delays);
    if (!net->kept || time > net->times[(net->oldest + net->kept - 1) % size]) {{
        if (net->kept < size)
            net->kept++;
        else
            net->oldest = (net->oldest + 1) % size;
    }}
    const int last = (net->oldest + net->kept - 1) % size;
    net->times[last] = time;
    memcpy(net->values[last], both + {count}, {total} * sizeof *both);
}}
"""


INIT_STATEMENTS = """\
    memcpy(net->first, net->c, sizeof net->c);
    memset(net->delays, 0, sizeof net->delays);
    net->kept = net->oldest = 0;
    for (int k = 0; k < 2; k++) {
        look(net, start_time, net->d);
        keep(net, start_time);
    }
    look(net, start_time, net->d);
"""
"""Statements of init; delays may depend on delayed values, so they are computed twice."""


def before_step(kernels: StepKernels, label: str) -> str:
    """Statements that compute delayed values at the beginning, middle and end of a step."""
    cut, total = kernels.slices, kernels.delayed_count
    return f"""\
    double given[{3 * total}], time = {label}_time(net), length = net->c[{cut["step"].start}];
    if (length <= 0)
        length = net->run[1] - net->c[{cut["s"].start}];
    for (int k = 0; k < 3; k++)
        look(net, time + 0.5 * k * length, given + k * {total});
"""


def after_step(label: str) -> str:
    """Statements that store the values after a step."""
    return f"""\
    if ({label}_time(net) > time) {{
        look(net, {label}_time(net), net->d);
        keep(net, {label}_time(net));
    }}
    look(net, {label}_time(net), net->d);
"""
