"""The cell of Lua files: what they may do, and that nothing they try takes long or much."""

import os

import pytest

from homodyn.errors import FormatError
from homodyn.model.formats import lua_sandbox
from homodyn.model.formats.lua_sandbox import run

SECONDS = 3.0


def cpu_time():
    """Processor time (s) of this process and of those that it has waited for."""
    return sum(os.times()[:4])


@pytest.fixture
def lua(tmp_path):
    def write(text, name="model.lua"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_tables_keep_the_order_of_the_text(lua):
    script = run(
        lua("""-- zebra = 1
        local x = "apple = 1"
        return {zebra = 1, [=[mango]=] == 0 and "a" or "b", ["odd key"] = {b = 2, a = 1},
                apple = {1, {}, "é"}, [7] = true}""")
    )
    assert list(script.table) == [1, 7, "zebra", "odd key", "apple"]
    assert list(script.table["odd key"]) == ["b", "a"]
    assert script.table["apple"] == [1, [], "é"]


def test_functions_are_left_out_and_counted(lua):
    script = run(lua("return {f = function() end, a = 1}"))
    assert (script.table, script.left_out) == ({"a": 1}, 1)


def test_scripts_give_the_same_table_each_time(lua):
    path = lua("return {a = math.random(), b = math.random(100)}")
    assert run(path).table == run(path).table


def test_files_of_the_folder_may_be_required(lua):
    lua("loads = (loads or 0) + 1\nreturn {n = loads}", "HeiMan/tables.lua")
    path = lua("""local a, b = require "HeiMan.tables", require("HeiMan.tables")
    return {same = a == b, n = a.n, twice = dofile("HeiMan/tables.lua").n}""")
    assert run(path).table == {"same": True, "n": 1, "twice": 2}


def test_links_do_not_lead_out_of_the_folder(lua, tmp_path):
    outside = tmp_path / "outside.lua"
    outside.write_text("return {}")
    path = lua('return require "link"', "inner/model.lua")
    (tmp_path / "inner" / "link.lua").symlink_to(outside)
    with pytest.raises(FormatError, match="outside the folder"):
        run(path)


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "..x", "a..b", "C:/x", "", "x/../../y", "a\\\\b", "~/x"]
)
def test_nothing_else_may_be_required(lua, name):
    with pytest.raises(FormatError, match="only files in the folder of the model"):
        run(lua(f'return require "{name}"'))


@pytest.mark.parametrize(
    "text",
    [
        'os.execute("true")',
        'io.open("/etc/passwd")',
        'package.loadlib("libc.so", "system")',
        'load("return 1")()',
        "python.eval('1')",
        "string.dump(function() end)",
        "debug.sethook()",
        "debug.getupvalue(require, 1)",
        "coroutine.wrap(function() while true do end end)()",
        "pcall(function() end)",
        "setmetatable({}, {__gc = function() while true do end end})",
    ],
)
def test_libraries_with_side_effects_are_missing(lua, text):
    with pytest.raises(FormatError, match="line 1"):
        run(lua(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("while true do end", "does not end"),
        ("local function f() return f() end f()", "does not end"),
        ("local function f() return f() + 1 end return f()", "overflow|MB"),
        ('return ("x"):rep(1e9)', "at most 1000000 repetitions"),
        ('return ("").rep("", 1e15)', "at most 1000000 repetitions"),
        ('local s = "x" while true do s = s .. s end', "more than 64 MB"),
        ("local t = {} for i = 1, 1e9 do t[i] = i end", "more than 64 MB"),
        ("local t = {} while true do t = {t, t} end", "more than 64 MB"),
        ('local t = {} while true do t[#t + 1] = "abc" .. #t end', "does not end|MB"),
        ('local s = ("x"):rep(1e6):rep(20) while true do s:upper() end', "does not end"),
        ('return {("a"):rep(30000):find((".-"):rep(10) .. "b")}', "pattern is too costly"),
        ("table.move({}, 1, 1e18, 2)", "at most 1000000 values"),
        ("table.insert(setmetatable({}, {__len = function() return 1e15 end}), 1, 2)", "computes"),
        ("local t = {} t.t = t return t", "does one contain itself"),
        ("local t = {} for i = 1, 40 do t = {t, t} end return t", "more than 100000 values"),
        ("return " + "{" * 300 + "}" * 300, "overflow"),
        ("error({})", "error of type table"),
        (b"\x1bLua", "compiled Lua"),
        (b"return {" + b"1," * (5 * 2**20) + b"}", "10 MB is too large"),
    ],
)
def test_scripts_that_exceed_a_limit_are_stopped(lua, text, words):
    path = lua(text)
    start = cpu_time()
    with pytest.raises(FormatError, match=words) as caught:
        run(path)
    assert cpu_time() - start < SECONDS
    assert str(path) in str(caught.value)


def test_limits_are_those_of_the_messages():
    assert lua_sandbox.MAX_MEMORY_BYTES == 64 * 2**20
    assert lua_sandbox.MAX_RUN_TIME_S < SECONDS


def test_bytes_that_are_no_text_are_read_as_they_are(lua):
    assert run(lua(b'return {a = "\xff\xfe"}')).table == {"a": "\xff\xfe"}


LONG = 'local s = ("x"):rep(1e6):rep(12) '


@pytest.mark.parametrize(
    "text",
    [
        LONG + 'return {s:find(("x"):rep(1e6) .. "y", 1, true)}',
        LONG + 'return {s:find("[" .. ("ab"):rep(2e5) .. "]")}',
        LONG + "local t = {} for i = 1, 40 do t[i] = s end "
        "while true do table.sort(t, function(a, b) return false end) end",
        """local t = {} for i = 1, 300 do t[i] = ("x"):rep(1e5) .. i end
        while true do table.sort(t) end""",
        """local m = setmetatable({}, {__index = getmetatable})
        local t = setmetatable({}, {__index = m})
        while true do pcall = t[t] end""",
    ],
)
def test_functions_in_c_are_stopped_with_their_process(lua, monkeypatch, text):
    """No instruction of Lua is executed inside them, so that no hook can count."""
    monkeypatch.setattr(lua_sandbox, "MAX_PROCESS_CPU_S", 1)
    path = lua(text)
    start = cpu_time()
    with pytest.raises(FormatError, match=r"does not end|ended by the limits"):
        run(path)
    assert cpu_time() - start < lua_sandbox.MAX_PROCESS_CPU_S + 1.5


def test_what_a_table_repeats_is_limited_by_memory(lua, monkeypatch):
    path = lua(LONG + "local t = {} for i = 1, 100 do t[i] = s end return t")
    monkeypatch.setattr(lua_sandbox, "MAX_PROCESS_MEMORY_BYTES", 400 * 2**20)
    with pytest.raises(FormatError, match=r"more than 64 MB|ended by the limits"):
        run(path)


def test_a_process_that_cannot_start_is_an_error(lua, monkeypatch):
    monkeypatch.setattr(lua_sandbox.sys, "executable", "/no/such/python")
    with pytest.raises(FormatError, match="cannot be started"):
        run(lua("return {}"))
