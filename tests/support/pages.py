"""Reads a page as a browser would: tags, ids, references, and whether everything is closed."""

from html.parser import HTMLParser

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Reader(HTMLParser):
    """Collects tags, ids and what they refer to, and checks that every tag is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.references, self.nameless, self.faults = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        if "id" in named:
            self.ids.append(named["id"])
        self.references += [named[key] for key in ("src", "href", "action") if key in named]
        if tag == "svg" and not named.get("aria-label"):
            self.nameless.append(self.getpos())
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append((tag, self.getpos()))


def read(text):
    reader = Reader()
    reader.feed(text)
    return reader
