"""Kill programs at random: `make kills COUNT=100`, or `python -m kills --count 5 search`."""

import argparse
import sys
import tempfile
from pathlib import Path

from kills.series import SERIES, run_series


def main() -> int:
    parser = argparse.ArgumentParser(prog="kills", description="Kill Homodyn at random times.")
    parser.add_argument("names", nargs="*", help=f"{', '.join(SERIES)}; all by default")
    parser.add_argument("--count", type=int, default=10, help="kills of each")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    faults = 0
    for name in arguments.names or list(SERIES):
        if name not in SERIES:
            parser.error(f"no series {name!r}; there are {', '.join(SERIES)}")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            report = run_series(name, arguments.count, Path(folder), arguments.seed)
        print(f"{name}: {report.kills} kills, {report.ended} ended before", flush=True)
        for fault in report.faults:
            print(f"  {fault}", flush=True)
        faults += len(report.faults)
    print(f"{faults} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
