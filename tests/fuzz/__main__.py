"""Fuzz all readers: `make fuzz SECONDS=600`, or `python -m fuzz --inputs 1000 c3d trc`."""

import argparse
import sys
from pathlib import Path

from fuzz.campaign import FINDINGS, OUTCOMES, fuzz
from fuzz.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description="Fuzz the readers of Homodyn.")
    parser.add_argument("names", nargs="*", help=f"readers: {', '.join(TARGETS)}; all by default")
    parser.add_argument("--inputs", type=int, default=10**9, help="inputs per reader")
    parser.add_argument("--seconds", type=float, help="processor time of all readers together (s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="folder with further valid files")
    parser.add_argument("--keep", type=Path, help="folder for inputs with findings")
    arguments = parser.parse_args()
    names = arguments.names or list(TARGETS)
    for name in names:
        if name not in TARGETS:
            parser.error(f"no reader {name!r}; there are {', '.join(TARGETS)}")
    if arguments.seconds is None and arguments.inputs == 10**9:
        arguments.seconds = 60.0
    share = float("inf") if arguments.seconds is None else arguments.seconds / len(names)
    heads = ("inputs", *OUTCOMES, "unforeseen")
    times = f"{'CPU s':>10}{'slowest':>10}"
    print(f"{'reader':16}" + "".join(f"{head:>11}" for head in heads) + times, flush=True)
    bad = 0
    for name in names:
        report = fuzz(
            name,
            arguments.inputs,
            seed=arguments.seed,
            seconds=share,
            folder=arguments.corpus,
            keep=arguments.keep,
        )
        row = (report.inputs, *(report.counts[one] for one in OUTCOMES), report.unforeseen)
        times = f"{report.seconds:10.1f}{report.slowest:10.2f}"
        print(f"{name:16}" + "".join(f"{count:11}" for count in row) + times, flush=True)
        seen = set()
        for outcome, number, sentence in report.findings:
            if (outcome, sentence[-120:]) not in seen:
                seen.add((outcome, sentence[-120:]))
                print(f"  {outcome} of input {number}: {sentence}", flush=True)
        bad += sum(report.counts[one] for one in FINDINGS)
    print(f"{bad} findings")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
