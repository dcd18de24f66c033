"""``homodyn info``: versions, processor, compiler and kernel cache of this machine."""

from __future__ import annotations

import platform
from importlib.metadata import version

from rich.console import Console
from rich.table import Table

from homodyn import __version__
from homodyn.cli.json_output import print_json
from homodyn.cli.option_groups import AsJson
from homodyn.cli.units import file_size


def info(as_json: AsJson = False) -> None:
    """Show versions, processor, compiler and kernel cache of this machine.

    Example: `homodyn info`
    """
    from homodyn.bench.machine import processor
    from homodyn.symbolic import cache, machine

    here = machine()
    files, size = cache.usage()
    compiler = " ".join(part for part in (here.compiler, here.compiler_version) if part)
    if as_json:
        print_json(
            {
                "homodyn": __version__,
                "python": platform.python_version(),
                "casadi": version("casadi"),
                "processor": processor(),
                "instruction_set": here.instruction_set,
                "lanes": here.lanes,
                "fused_multiply_add": here.fma,
                "threads": here.threads,
                "compiler": compiler or None,
                "cache": {"folder": here.cache, "files": files, "bytes": size},
            }
        )
        return
    lanes = f"{here.lanes} lanes" + (", fused multiply-add" if here.fma else "")
    facts = {
        "Homodyn": __version__,
        "Python": platform.python_version(),
        "CasADi": version("casadi"),
        "Processor": processor(),
        "Instructions": f"{here.instruction_set} ({lanes})",
        "Threads": str(here.threads),
        "Compiler": compiler or "none found; kernels run on CasADi's virtual machine, slower",
        "Kernel cache": f"{here.cache} ({files} files, {file_size(size)})",
    }
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, value)
    Console(highlight=False).print(table)
