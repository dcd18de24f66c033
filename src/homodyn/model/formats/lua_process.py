"""The process that runs a Lua model file: `lua_sandbox` starts it and reads its answer.

It is started as a script, with limits of processor time and memory, and imports nothing but the
standard library and lupa. The request on stdin and the answer on stdout are JSON. Whatever a script
achieves here, it ends with this process.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

try:
    # Model scripts are written for Lua 5.1 and 5.2. Of the versions whose memory can be limited,
    # 5.4 is the newest that still lets a loop assign to its own variable, as these scripts do.
    from lupa import lua54 as lua
except ImportError:
    import lupa as lua

_FORBIDDEN = ("io", "os", "package", "load", "loadstring", "pcall", "coroutine", "collectgarbage")
MAX_MESSAGE_CHARACTERS = 500
_MODULE = re.compile(r"[\w-]+(?:[./][\w-]+)*")


class ScriptError(Exception):
    """A script that is refused: a message, and a place in the file."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.place = place


def main() -> None:
    """Read a request, run the script, and write the answer."""
    request = json.load(sys.stdin)
    _limit_resources(request["cpu_s"], request["memory"])
    try:
        answer = run_script(Path(request["path"]), request)
    except ScriptError as error:
        answer = {"error": error.message, "place": error.place}
    except MemoryError:
        answer = {"error": _needs_memory(request), "place": ""}
    except RecursionError:
        answer = {"error": "its tables are nested too deeply", "place": ""}
    text = json.dumps(answer)
    sys.stdout.write(text)
    sys.stdout.flush()


def _limit_resources(cpu_s: int, memory: int) -> None:
    """Limit this process, where the system can; its parent also limits the time that passes."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, limit in ((resource.RLIMIT_CPU, cpu_s), (resource.RLIMIT_AS, memory)):
        hard = resource.getrlimit(kind)[1]
        value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (value, value if kind == resource.RLIMIT_AS else hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_script(path: Path, limits: dict[str, Any]) -> dict[str, Any]:
    """Run a Lua file in the sandbox; its table, the texts that were read, and what was left out."""
    folder = path.parent
    sources: dict[str, str] = {}
    refused: list[ScriptError] = []

    def read(name: str) -> bytes | None:
        """The text of a module for `require`; None ends the script."""
        try:
            sources[name] = _module_text(folder, name, limits["file_bytes"])
            return sources[name].encode()
        except ScriptError as error:
            refused.append(error)
            return None

    sources[path.name] = _text(path, limits["file_bytes"])
    runtime = lua.LuaRuntime(
        encoding="latin-1",
        unpack_returned_tuples=True,
        register_eval=False,
        register_builtins=False,
        attribute_filter=_no_attributes,
        max_memory=limits["lua_memory"],
    )
    try:
        sandbox = runtime.execute(_SANDBOX)
        text = sources[path.name].encode()
        name = f"@{path.name}".encode()
        outcome = sandbox(text, name, read, limits["instructions"], limits["seconds"])
        # The table is read outside the sandbox, where a failed allocation would abort the process.
        runtime.set_max_memory(4 * limits["lua_memory"])
    except (lua.LuaError, MemoryError) as error:
        raise ScriptError(f"the script cannot be run: {error}") from None
    succeeded, result = outcome if isinstance(outcome, tuple) else (outcome, None)
    if refused:
        raise refused[0]
    if not succeeded:
        raise _script_error(path, _decode_value(str(result)), limits)
    if lua.lua_type(result) != "table":
        got = "nothing" if result is None else f"a {lua.lua_type(result) or type(result).__name__}"
        raise ScriptError(
            f"a model file returns a table, this one returns {got}; end it with: return model"
        )
    reader = _TableReader(limits, _key_ranks(sources.values()))
    return {"table": reader.value(result, 0), "sources": sources, "left_out": reader.left_out}


class _TableReader:
    """Converts Lua tables of limited size to ``["list", item, ...]`` and ``["table", pair, ...]``.

    A pair is a key with its value: JSON has no keys that are numbers.
    """

    def __init__(self, limits: dict[str, Any], ranks: dict[str, int]) -> None:
        self.ranks = ranks
        self.left_out = 0
        self._count = 0
        self._max_entries, self._max_depth = limits["entries"], limits["depth"]

    def value(self, value: Any, depth: int) -> Any:
        self._count += 1
        if self._count > self._max_entries:
            raise ScriptError(f"its table has more than {self._max_entries} values")
        if depth > self._max_depth:
            raise ScriptError(
                f"its tables are nested more than {self._max_depth} deep; does one contain itself?"
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
            return ["list", *(content[k] for k in range(1, len(content) + 1))]
        return ["table", *([key, content[key]] for key in sorted(content, key=self._rank))]

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


def _text(path: Path, max_bytes: int) -> str:
    try:
        if path.stat().st_size > max_bytes:
            raise ScriptError(f"{path.name} is larger than {max_bytes // 2**20} MB")
        content = path.read_bytes()
    except OSError as error:
        raise ScriptError(f"{path.name} cannot be read: {error.strerror}") from None
    if content.startswith(b"\x1b"):
        raise ScriptError("this is compiled Lua; the source text is needed")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _module_text(folder: Path, name: str, max_bytes: int) -> str:
    """The text of ``name.lua`` in the folder of the model or below."""
    shown = name if len(name) < 80 else name[:80] + "..."
    bare = name.removesuffix(".lua")
    if not _MODULE.fullmatch(bare):
        raise ScriptError(
            f"it requires {shown!r}; only files in the folder of the model may be used"
        )
    file = folder / f"{bare.replace('.', '/')}.lua"
    if not file.resolve().is_relative_to(folder.resolve()):
        raise ScriptError(f"it requires {shown!r}, which lies outside the folder of the model")
    if not file.is_file():
        raise ScriptError(f"it requires {shown!r}, but there is no {file}")
    return _text(file, max_bytes)


def _needs_memory(limits: dict[str, Any]) -> str:
    return f"its script needs more than {limits['lua_memory'] // 2**20} MB"


def _script_error(path: Path, message: str, limits: dict[str, Any]) -> ScriptError:
    """An error message of Lua with its place, and what a model file may use."""
    if message == "not enough memory":
        return ScriptError(_needs_memory(limits))
    if message.startswith("too long"):
        return ScriptError(
            f"its script does not end: more than {limits['instructions']} instructions or "
            f"{limits['seconds']} s"
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
    return ScriptError(message[:MAX_MESSAGE_CHARACTERS], place)


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


if __name__ == "__main__":
    main()
