"""Line plots have explicit ranges and a cursor."""

from dataclasses import replace

import numpy as np

from homodyn.studio import Session, StudioDocument
from homodyn.studio.balance_evaluation import evaluate_motion
from homodyn.studio.file_opening import open_path
from homodyn.studio.live_simulation import SimulationSample
from homodyn.studio.panels.balance import BalancePanel
from homodyn.studio.panels.compare import ComparePanel
from homodyn.studio.panels.line_plot import data_range, value_range, with_cursor
from homodyn.studio.panels.network import NetworkPanel
from homodyn.studio.panels.plots import PlotsPanel, on_common_times
from homodyn.studio.panels.search import SearchPanel
from homodyn.studio.panels.simulate import SimulatePanel
from homodyn.studio.plot_signals import PlotCurve
from homodyn.studio.studio import Studio
from support.waiting import until


def test_the_cursor_is_a_vertical_line_and_keeps_the_curves():
    table = on_common_times([PlotCurve("x", (0, 0, 0), np.arange(5.0), np.arange(5.0) ** 2)])
    time, values, mark = with_cursor(table, 2.5)
    at = np.flatnonzero(time == 2.5)
    low, high = value_range(table)
    assert mark[at[1]] == high
    assert (np.delete(mark, at[1]) < low).all()
    np.testing.assert_allclose(values[at], 6.5)
    np.testing.assert_array_equal(np.delete(values, at), table[1])


def test_the_horizontal_range_is_that_of_the_data_and_never_empty():
    assert data_range(np.array([1.0, 2.0, 5.0])) == (1.0, 5.0)
    low, high = data_range(np.array([3.0]))
    assert low < 3.0 < high


def test_every_plot_of_the_page_has_an_explicit_horizontal_range(studio, spring_file, study):
    """Without one the range of a plot that gets data while it is mounted stays undefined."""
    studio.open(open_path(spring_file), "spring.cdn")
    studio.open(open_path(study[0]), "bowl.db")
    balance, simulate = studio.layout.panel(BalancePanel), studio.layout.panel(SimulatePanel)
    balance.balance = evaluate_motion(studio.session.document, 0.7)
    network = studio.layout.panel(NetworkPanel)
    until(lambda: network.run is not None, "a run of the network")
    sample = SimulationSample(0.0, np.zeros(1), np.zeros(3), np.zeros(3), 0.0, 0.0, None, 1.0)
    with studio.pause_drawing():
        simulate._plot([sample, replace(sample, time=0.1)], 10.0)
    studio.wait_until_drawn()
    plots = [h for h in every_plot(studio) if h is not None]
    # Two over time, four of the comparison, two of the simulation, balance, network and search.
    assert len(plots) == 11
    for plot in plots:
        low, high = plot.scales["x"]["range"]
        assert low < high, plot.series


def every_plot(studio):
    """The handles of all plots of a page."""
    layout = studio.layout
    return [
        *(row.plot for row in layout.panel(PlotsPanel).rows),
        *layout.panel(ComparePanel).plots.values(),
        *(plot for _, plot in layout.panel(SimulatePanel).plots.values()),
        layout.panel(BalancePanel).plot,
        *layout.panel(NetworkPanel).plots,
        layout.panel(SearchPanel).plot,
    ]


CHARTS = """() => Object.values((window.__viserTestpoints || {}).uplots || {}).map(
    ({chart}) => [chart.scales.x.min, chart.scales.x.max])"""


def test_plots_are_drawn_on_a_page_that_is_loaded_before_a_body_is_opened(visit, walk_document):
    """The body is opened and played while the page mounts its plots."""
    studio = Studio(Session(StudioDocument().with_trial(walk_document.trial)), port=0)
    studio.start()
    try:
        page = visit(studio)
        actor = walk_document.actor
        studio.session.change("open", lambda d: d.with_actor(actor), in_file=True)
        studio.session.update_clock(lambda clock: clock.play())
        until(lambda: len(page.evaluate(CHARTS)) >= 2, "plots")
        until(lambda: studio.session.clock.now > 0.3, "updates of the plots")
        studio.session.update_clock(lambda clock: clock.pause())
        studio.wait_until_drawn()
        ranges = page.evaluate(CHARTS)
        assert all(low is not None and high > low for low, high in ranges), ranges
    finally:
        studio.stop()
