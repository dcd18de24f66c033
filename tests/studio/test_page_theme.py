"""Pages follow the color scheme of their system, unless a theme is chosen."""

import pytest

from homodyn.studio.panels.view import ViewPanel
from support.studio_page import choose, unfold
from support.waiting import until

SCHEME = "() => document.documentElement.getAttribute('data-mantine-color-scheme')"


def wait_for_scheme(page, scheme):
    until(lambda: page.evaluate(SCHEME) == scheme, f"a {scheme} page")


@pytest.mark.parametrize("preference", ["light", "dark"])
def test_a_page_has_the_color_scheme_of_its_system(studio, visit, preference):
    page = visit(studio, color_scheme=preference)
    wait_for_scheme(page, preference)
    (client,) = studio.server.get_clients().values()
    assert studio.themes.is_dark(client) == (preference == "dark")


def test_a_page_follows_when_the_system_changes(studio, visit):
    page = visit(studio)
    wait_for_scheme(page, "light")
    page.emulate_media(color_scheme="dark")
    wait_for_scheme(page, "dark")
    page.emulate_media(color_scheme="light")
    wait_for_scheme(page, "light")


def test_two_pages_each_follow_their_own_system(studio, visit):
    light, dark = visit(studio), visit(studio, color_scheme="dark")
    wait_for_scheme(dark, "dark")
    wait_for_scheme(light, "light")


def test_a_chosen_theme_overrides_the_system_on_all_pages(studio, visit):
    page = visit(studio, color_scheme="dark")
    wait_for_scheme(page, "dark")
    unfold(page, "View")
    menu = studio.layout.panel(ViewPanel).theme
    choose(page, menu, "Light")
    wait_for_scheme(page, "light")
    assert studio.view_options.theme == "light"
    choose(page, menu, "System")
    wait_for_scheme(page, "dark")
