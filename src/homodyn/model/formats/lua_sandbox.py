"""Sandbox for Lua model files: a script computes a table and can do nothing else.

A script has numbers, strings, tables and functions, and may read other Lua files of its own folder
through ``require`` and ``dofile``. It has no access to files, processes, bytecode, coroutines and
Python objects. Instructions, memory and time are limited, and random numbers repeat, so a file
always gives the same table or the same error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

try:
    # Model scripts are written for Lua 5.1 and 5.2. Of the versions whose memory can be limited,
    # 5.4 is the newest that still lets a loop assign to its own variable, as these scripts do.
    from lupa import lua54 as lua
except ImportError:
    import lupa as lua

from homodyn.errors import FormatError
from homodyn.model.formats.files import read_bytes

MAX_MEMORY_BYTES = 64 * 2**20
"""Memory that a script may use."""
MAX_LUA_FILE_BYTES = 8 * 2**20
"""Size above which a Lua file is refused."""
MAX_RUN_TIME_S = 1.0
MAX_INSTRUCTIONS = 20_000_000
MAX_TABLE_ENTRIES = 100_000
"""Values in the table of a script; a value that is reached twice counts twice."""
MAX_TABLE_DEPTH = 64

_FORBIDDEN = ("io", "os", "package", "load", "loadstring", "pcall", "coroutine", "collectgarbage")
MAX_MESSAGE_CHARACTERS = 500
_MODULE = re.compile(r"[\w-]+(?:[./][\w-]+)*")


@dataclass
class Script:
    """The result of a Lua file: its table, and the text of all files that were read for it.

    Lists of Lua become lists. Other tables become dictionaries with their keys in the order of the
    text, since the order is undefined in Lua. Functions are left out.
    """

    table: dict[Any, Any]
    sources: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    """Number of functions and other values that were left out."""


def run(path: Path) -> Script:
    """Run a Lua file in the sandbox.

    Args:
        path: The file.

    Returns:
        The table that the script returns.

    Raises:
        FormatError: The script fails, exceeds a limit, or does not return a table with names.
    """
    folder = path.parent
    sources: dict[str, str] = {}
    refused: list[FormatError] = []

    def read(name: str) -> bytes | None:
        """The text of a module for `require`; None ends the script."""
        try:
            sources[name] = _module_text(folder, name)
            return sources[name].encode()
        except FormatError as error:
            refused.append(error)
            return None

    sources[path.name] = _text(path)
    runtime = lua.LuaRuntime(
        encoding="latin-1",
        unpack_returned_tuples=True,
        register_eval=False,
        register_builtins=False,
        attribute_filter=_no_attributes,
        max_memory=MAX_MEMORY_BYTES,
    )
    try:
        sandbox = runtime.execute(_SANDBOX)
        text = sources[path.name].encode()
        outcome = sandbox(text, f"@{path.name}".encode(), read, MAX_INSTRUCTIONS, MAX_RUN_TIME_S)
        # The table is read outside the sandbox, where a failed allocation would abort the process.
        runtime.set_max_memory(4 * MAX_MEMORY_BYTES)
    except (lua.LuaError, MemoryError) as error:
        raise FormatError(f"the script cannot be run: {error}", str(path)) from None
    succeeded, result = outcome if isinstance(outcome, tuple) else (outcome, None)
    if refused:
        raise FormatError(str(refused[0]), str(path))
    if not succeeded:
        raise _script_error(path, _decode_value(str(result)))
    if lua.lua_type(result) != "table":
        got = "nothing" if result is None else f"a {lua.lua_type(result) or type(result).__name__}"
        raise FormatError(
            f"a model file returns a table, this one returns {got}; end it with: return model",
            str(path),
        )
    reader = _TableReader(path, _key_ranks(sources.values()))
    table = reader.value(result, 0)
    if not isinstance(table, dict):
        if table:
            raise FormatError("a model is a table with keys such as frames, not a list", str(path))
        table = {}
    return Script(table, sources, reader.left_out)


class _TableReader:
    """Converts Lua tables of limited size to Python lists and dictionaries."""

    def __init__(self, path: Path, ranks: dict[str, int]) -> None:
        self.path, self.ranks = path, ranks
        self.left_out = 0
        self._count = 0

    def value(self, value: Any, depth: int) -> Any:
        self._count += 1
        if self._count > MAX_TABLE_ENTRIES:
            raise FormatError(f"its table has more than {MAX_TABLE_ENTRIES} values", str(self.path))
        if depth > MAX_TABLE_DEPTH:
            raise FormatError(
                f"its tables are nested more than {MAX_TABLE_DEPTH} deep; does one contain itself?",
                str(self.path),
            )
        if lua.lua_type(value) != "table":
            return _decode_value(value) if isinstance(value, str) else value
        content = {}
        for key, item in value.items():
            if lua.lua_type(item) in (None, "table") and lua.lua_type(key) is None:
                name = _decode_value(key) if isinstance(key, str) else key
                content[name] = self.value(item, depth + 1)
            else:
                self.left_out += 1
        if list(range(1, len(content) + 1)) == sorted(k for k in content if type(k) is int):
            return [content[k] for k in range(1, len(content) + 1)]
        return {key: content[key] for key in sorted(content, key=self._rank)}

    def _rank(self, key: Any) -> tuple[int, float, str]:
        if isinstance(key, (int, float)):
            return (0, float(key), "")
        return (1, self.ranks.get(str(key), len(self.ranks)), str(key))


def _decode_value(text: str) -> str:
    """Bytes of a Lua string as text."""
    content = text.encode("latin-1")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return text


def _text(path: Path) -> str:
    content = read_bytes(path, MAX_LUA_FILE_BYTES)
    if content.startswith(b"\x1b"):
        raise FormatError("this is compiled Lua; the source text is needed", str(path))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _module_text(folder: Path, name: str) -> str:
    """The text of ``name.lua`` in the folder of the model or below."""
    shown = name if len(name) < 80 else name[:80] + "..."
    bare = name.removesuffix(".lua")
    if not _MODULE.fullmatch(bare):
        raise FormatError(
            f"it requires {shown!r}; only files in the folder of the model may be used"
        )
    file = folder / f"{bare.replace('.', '/')}.lua"
    if not file.resolve().is_relative_to(folder.resolve()):
        raise FormatError(f"it requires {shown!r}, which lies outside the folder of the model")
    if not file.is_file():
        raise FormatError(f"it requires {shown!r}, but there is no {file}")
    return _text(file)


def _script_error(path: Path, message: str) -> FormatError:
    """An error message of Lua with its place, and what a model file may use."""
    if message == "not enough memory":
        return FormatError(f"its script needs more than {MAX_MEMORY_BYTES // 2**20} MB", str(path))
    if message.startswith("too long"):
        return FormatError(
            f"its script does not end: more than {MAX_INSTRUCTIONS} instructions or "
            f"{MAX_RUN_TIME_S} s",
            str(path),
        )
    message = message.partition("\nstack traceback")[0]
    found = re.match(r"(.*?):(\d+): (.*)", message, re.DOTALL)
    place = ""
    if found:
        where, line, message = found.groups()
        if not where.startswith("[string"):
            place = f"line {line}" if where == path.name else f"{where} line {line}"
    if any(f"'{name}'" in message for name in _FORBIDDEN):
        message += (
            "; a model file may use math, string, table and require, "
            f"and has no {', '.join(_FORBIDDEN)}"
        )
    return FormatError(message[:MAX_MESSAGE_CHARACTERS], str(path), place)


def _no_attributes(owner: object, name: object, setting: bool) -> str:
    raise AttributeError("Lua files have no access to Python objects")


_KEYS = re.compile(
    r"""--\[(?P<eq>=*)\[.*?\](?P=eq)\]      # long comments, comments, long strings and strings
      | --[^\n]*
      | \[(?P<eqs>=*)\[.*?\](?P=eqs)\]
      | \[\s*(?P<quote>["'])(?P<quoted>(?:\\.|(?!(?P=quote)).)*)(?P=quote)\s*\]\s*=(?!=)
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
      | (?P<name>[A-Za-z_]\w*)\s*=(?!=)
    """,
    re.VERBOSE | re.DOTALL,
)


def _key_ranks(sources: Any) -> dict[str, int]:
    """Names that are assigned, numbered by their first occurrence in the texts."""
    ranks: dict[str, int] = {}
    for text in sources:
        for found in _KEYS.finditer(text):
            name = found["name"] or found["quoted"]
            if name:
                ranks.setdefault(name, len(ranks))
    return ranks


# The hook counts instructions. Whatever could run for long without executing instructions is
# limited here: long repetitions, patterns with backtracking, tables that compute their length, and
# finalizers, during which Lua disables hooks. A script cannot catch errors, so the first ends it.
_SANDBOX = r"""
local load, pcall, sethook, clock = load, pcall, debug.sethook, os.clock
local getmeta, rawget, rawlen, type, error = debug.getmetatable, rawget, rawlen, type, error
local setmeta, tostring, concat_, move_ = setmetatable, tostring, table.concat, table.move
local rep_, gsub_ = string.rep, string.gsub

local function bounded(name, f)
  return function(subject, pattern, ...)
    local length, cost = #tostring(subject), 1.0
    local _, repeats = gsub_(tostring(pattern), "[*+%-?]", "")
    local _, back = gsub_(tostring(pattern), "%%[%db]", "")
    for _ = 0, repeats + back do cost = cost * (length + 1) end
    if cost > 1e8 then error(name .. ": the pattern is too costly for a text this long", 2) end
    return f(subject, pattern, ...)
  end
end
for _, name in pairs {"find", "match", "gmatch", "gsub"} do
  string[name] = bounded(name, string[name])
end
string.rep = function(text, count, separator)
  if (tonumber(count) or 0) > 1e6 then error("rep: at most 1000000 repetitions", 2) end
  return rep_(text, count, separator)
end
string.dump, string.pack, string.unpack, string.packsize = nil, nil, nil, nil

local function plain_table(name, f)
  return function(t, ...)
    local meta = type(t) == "table" and getmeta(t)
    if meta and (rawget(meta, "__len") or type(rawget(meta, "__index")) == "function") then
      error(name .. ": not for a table that computes its values", 2)
    end
    return f(t, ...)
  end
end
for _, name in pairs {"insert", "remove", "concat", "sort", "unpack"} do
  table[name] = plain_table(name, table[name])
end
table.move = function(from, first, last, ...)
  if last - first > 1e6 then error("move: at most 1000000 values", 2) end
  return plain_table("move", move_)(from, first, last, ...)
end
math.pow = math.pow or function(x, y) return x ^ y end
math.randomseed(0)

local env = {
  math = math, string = string, table = table, _VERSION = _VERSION,
  assert = assert, error = error, getmetatable = getmetatable, ipairs = ipairs, next = next,
  pairs = pairs, rawequal = rawequal, rawget = rawget, rawlen = rawlen, rawset = rawset,
  select = select, tonumber = tonumber, tostring = tostring, type = type,
  unpack = table.unpack, print = function() end,
  -- All that strict.lua needs of the debug library: which function assigns a global.
  debug = {getinfo = function() return {what = "main"} end},
  setmetatable = function(t, meta)
    if type(meta) == "table" and rawget(meta, "__gc") ~= nil then
      error("setmetatable: no finalizers", 2)
    end
    return setmeta(t, meta)
  end,
}
env._G = env

return function(source, name, read, instructions, seconds)
  local loaded = {}
  local function execute(module)
    local text = read(module)
    if text == nil then error("refused", 0) end
    local chunk, message = load(text, "@" .. module, "t", env)
    if not chunk then error(message, 0) end
    return chunk(module)
  end
  env.dofile = function(module) return execute(tostring(module)) end
  env.require = function(module)
    module = tostring(module)
    if loaded[module] == nil then
      loaded[module] = true
      local value = execute(module)
      if value ~= nil then loaded[module] = value end
    end
    return loaded[module]
  end
  local chunk, message = load(source, name, "t", env)
  if not chunk then return false, message end
  local count, start = 0, clock()
  sethook(function()
    count = count + 50
    if count > instructions or clock() - start > seconds then error("too long", 0) end
  end, "", 50)
  local succeeded, result = pcall(chunk)
  sethook()
  if not succeeded and type(result) ~= "string" then result = "error of type " .. type(result) end
  return succeeded, result
end
"""
