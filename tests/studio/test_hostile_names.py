"""Names from files of every kind do nothing in a real browser but show."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path

from homodyn import capture, catalog, save
from homodyn.analysis.demo import DEMO_TRIAL_FOLDER
from homodyn.errors import HomodynError
from homodyn.studio.session_store import session_archive
from support.studio_page import show_tab, unfold

IMAGE = "<img src=x onerror=window.pwned=1>"
HOSTILE = (
    f'N<iframe srcdoc="<script>top.pwned=1</script>">{IMAGE}'
    "![i](https://a.invalid/i.png)**[l](javascript:window.pwned=1)**"
)
STATE = """() => ({
    pwned: window.pwned || 0, title: document.title,
    frames: document.querySelectorAll("iframe").length,
    images: [...document.images].filter((image) => !/^(data|blob):/.test(image.src)).length,
    links: [...document.links].filter((link) => /javascript|invalid/.test(link.href)).length,
})"""
HARMLESS = {"pwned": 0, "title": "Homodyn studio", "frames": 0, "images": 0, "links": 0}
OSIM_MODEL = Path(__file__).parents[1] / "muscle" / "wraps.osim"


def replace_in_file(path: Path, name: str, hostile: str) -> Path:
    text = path.read_text()
    assert name in text
    path.write_text(text.replace(name, hostile))
    return path


def hostile_files(folder: Path) -> Iterator[Path]:
    """A file of each kind, with hostile names in it, or of it where it holds none."""
    body = catalog.bip()
    quoted = HOSTILE.replace('"', '\\"')
    for suffix, name in ((".toml", quoted), (".lua", quoted), (".urdf", escape(HOSTILE))):
        save(body, folder / f"robot{suffix}")
        yield replace_in_file(folder / f"robot{suffix}", "pelvis", name)
    shutil.copyfile(OSIM_MODEL, folder / "robot.osim")
    first = (
        'Body name="' + (folder / "robot.osim").read_text().split('<Body name="')[1].split('"')[0]
    )
    yield replace_in_file(folder / "robot.osim", first, f'Body name="{escape(HOSTILE)}')
    trial = capture.read(DEMO_TRIAL_FOLDER / "walk.c3d")
    labels = tuple(f"{IMAGE}{k}" for k in range(4))
    trial = capture.Trial("walk", labels, trial.positions[:40, :4], trial.rate)
    for suffix in (".c3d", ".trc", ".csv"):
        path = folder / f"{IMAGE}{suffix}".replace("/", "")
        capture.write(trial, path)
        yield path
    network = folder / f"{IMAGE}.cdn"
    network.write_text('node "n" { x = 0  x\' = "1" }\n')
    yield network
    (folder / "broken.cdn").write_text(f'node "n" {{ x\' = "{IMAGE}" }}\n')
    yield folder / "broken.cdn"
    (folder / f"{IMAGE}.db").write_bytes(HOSTILE.encode())
    yield folder / f"{IMAGE}.db"
    (folder / "scene.toml").write_text(f"format = \"homodyn scene 1\"\n'{HOSTILE}' = 1\n")
    yield folder / "scene.toml"


def test_names_of_every_format_are_shown_and_do_nothing(studio, visit, tmp_path):
    page = visit(studio)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    accepted = {}
    for path in hostile_files(tmp_path):
        try:
            studio.open_upload(path.name, path.read_bytes())
            accepted[path.suffix] = True
        except HomodynError as error:
            studio.show_error(error)
            accepted.setdefault(path.suffix, False)
        studio.wait_until_drawn()
        assert page.evaluate(STATE) == HARMLESS, path
    opened = {suffix for suffix, success in accepted.items() if success}
    assert opened >= {".toml", ".lua", ".urdf", ".c3d", ".trc", ".csv", ".cdn"}, accepted
    actor = next(a for a in studio.session.document.actors if a.name == "bip")
    studio.session.change(HOSTILE, lambda d: d.without(actor.name))
    studio.session.change(HOSTILE, lambda d: d.with_actor(replace(actor, name=HOSTILE)))
    studio.open_upload("session.zip", session_archive(studio.session.document).content)
    studio.wait_until_drawn()
    for tab in ("Fit", "Compare", "Simulate", "Studies", "Body"):
        show_tab(page, tab)
        assert page.evaluate(STATE) == HARMLESS, tab
    unfold(page, "Pose")
    page.get_by_text(HOSTILE, exact=False).first.wait_for()
    assert page.evaluate(STATE) == HARMLESS
    assert not [address for address in requests if "invalid" in address]


def test_the_policy_stops_a_name_that_nobody_escaped(studio, visit):
    """The second line of defence: raw HTML that reaches the page runs nothing."""
    page = visit(studio)
    link = "<a id=link href='javascript:window.pwned=1'>l</a>"
    studio.server.gui.add_html(f"{link}<img src='https://a.invalid/i.png'>{IMAGE}{HOSTILE}")
    page.wait_for_function("document.querySelector('iframe') !== null")
    page.evaluate("document.querySelector('#link').click()")
    page.wait_for_timeout(300)  # A click starts no event that could be waited for.
    state = page.evaluate(STATE)
    assert state["pwned"] == 0
    assert state["title"] == "Homodyn studio"
