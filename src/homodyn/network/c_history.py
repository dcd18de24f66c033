"""The past of delayed values in C: a ring of times and values, read on straight lines.

What `homodyn.network.run.DelayHistory` does in Python, with room for a fixed number of steps.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from homodyn.network.step_kernels import StepKernels

SPARE_HISTORY_STEPS = 64
"""Room beyond the longest delay, for steps that events cut."""


def history_steps(kernels: StepKernels, values: np.ndarray, timestep: float) -> int:
    """Steps that the past must hold, from the delays at the start."""
    column = kernels.initial_state(0, 1, values, 0.0)[0]
    none = np.zeros(kernels.delayed_count)
    both = np.atleast_1d(kernels.delay_kernel(column, values, np.array(0.0), none))
    longest = float(np.max(both[: len(kernels.delay_slots)], initial=0.0))
    return ceil(longest / timestep) + SPARE_HISTORY_STEPS


def struct_fields(kernels: StepKernels, label: str) -> str:
    """What the struct of a network with delays holds besides."""
    return f"""\
    double first[{kernels.size}];     /* what init came to */
    double delays[{len(kernels.delay_slots)}];
    double times[{label}_HISTORY];    /* a ring that begins at oldest */
    double values[{label}_HISTORY][{kernels.delayed_count}];
    int kept, oldest;
"""


def history_functions(kernels: StepKernels, label: str) -> str:
    """``look`` finds delayed values for a time, ``keep`` keeps those of now."""
    count, total = len(kernels.delay_slots), kernels.delayed_count
    begins = ", ".join(str(offset) for offset, _ in kernels.delay_slots)
    sizes = ", ".join(str(size) for _, size in kernels.delay_slots)
    return f"""\
static const int begins[] = {{{begins}}}, sizes[] = {{{sizes}}};

static void look(const {label}_t *net, double time, double *d)
{{
    static const double none[{total}];
    const int room = {label}_HISTORY, last = net->kept - 1;
    for (int e = 0; e < {count}; e++) {{
        double t = time - net->delays[e], *to = d + begins[e], before[{total}];
        if (t < net->run[0] || last < 0) {{
            before_start(net->first, net->p, &t, none, before);
            memcpy(to, before + begins[e], sizes[e] * sizeof *to);
            continue;
        }}
        int k = last;
        while (k > 0 && net->times[(net->oldest + k) % room] > t)
            k--;
        const int one = (net->oldest + k) % room, other = (one + 1) % room;
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
    const int room = {label}_HISTORY;
    double both[{count + total}];
    delays_of(net->c, net->p, &time, net->d, both);
    memcpy(net->delays, both, sizeof net->delays);
    if (!net->kept || time > net->times[(net->oldest + net->kept - 1) % room]) {{
        if (net->kept < room)
            net->kept++;
        else
            net->oldest = (net->oldest + 1) % room;
    }}
    const int last = (net->oldest + net->kept - 1) % room;
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
"""Statements of init: delays may themselves look back, so what is kept is worked out twice."""


def before_step(kernels: StepKernels, label: str) -> str:
    """Statements that find delayed values at the begin, the middle and the end of a step."""
    cut, total = kernels.slices, kernels.delayed_count
    return f"""\
    double given[{3 * total}], time = {label}_time(net), length = net->c[{cut["step"].start}];
    if (length <= 0)
        length = net->run[1] - net->c[{cut["s"].start}];
    for (int k = 0; k < 3; k++)
        look(net, time + 0.5 * k * length, given + k * {total});
"""


def after_step(label: str) -> str:
    """Statements that keep the values a step has come to."""
    return f"""\
    if ({label}_time(net) > time) {{
        look(net, {label}_time(net), net->d);
        keep(net, {label}_time(net));
    }}
    look(net, {label}_time(net), net->d);
"""
