"""Formats by extension: precedence, shared extensions, and messages."""

from pathlib import Path

import pytest

from homodyn.errors import FormatError
from homodyn.foundation.file_formats import FileFormat, FormatRegistry, optional_method


class Interface(FileFormat):
    @optional_method
    def read(self, path):
        raise FormatError("cannot be read", str(path))

    @optional_method
    def write(self, path):
        raise FormatError("cannot be written", str(path))


class Readable(Interface):
    extensions = (".a", ".x")

    def read(self, path):
        return "readable"


class Writable(Interface):
    extensions = (".b", ".x")

    def write(self, path):
        return "writable"


class Derived(Readable):
    extensions = (".d",)


@pytest.fixture
def registry():
    formats = FormatRegistry((".a",))
    formats.register(Readable())
    formats.register(Writable())
    return formats


def test_a_format_supports_what_it_or_its_base_overrides():
    assert Readable().supports("read")
    assert not Readable().supports("write")
    assert Derived().supports("read")
    assert not Interface().supports("read")


def test_a_shared_extension_goes_to_the_format_that_supports_the_method(registry):
    assert registry.find(Path("f.x"), "read", "cannot be read from").read("f.x") == "readable"
    assert registry.find(Path("f.X"), "write", "cannot be written as").write("f.x") == "writable"


def test_a_later_format_takes_precedence_until_it_is_removed(registry):
    class Later(Readable):
        extensions = (".a",)

        def read(self, path):
            return "later"

    later = Later()
    registry.register(later)
    assert registry.find(Path("f.a"), "read", "").read("f.a") == "later"
    assert registry.by_extension()[".a"] is later
    registry.unregister(later)
    assert registry.find(Path("f.a"), "read", "").read("f.a") == "readable"


def test_a_refusal_lists_the_extensions_that_support_the_method(registry):
    message = r"f\.b: files cannot be read from '\.b'; accepted: \.a, \.x"
    with pytest.raises(FormatError, match=message):
        registry.find(Path("f.b"), "read", "files cannot be read from")


@pytest.mark.parametrize(
    ("extensions", "message"),
    [
        ((), r"has no extensions; set them, such as \('\.a',\)"),
        (("a",), "with a dot"),
        ((".A",), "lower"),
    ],
)
def test_extensions_have_a_dot_and_small_letters(registry, extensions, message):
    class Wrong(Interface):
        pass

    Wrong.extensions = extensions
    with pytest.raises(FormatError, match=message):
        registry.register(Wrong())
