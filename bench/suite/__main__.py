"""Reads the command line and runs one experiment, or all."""

import argparse
import importlib
import os
import signal
import sys
from pathlib import Path

from . import BenchError, note

# the order in which 'all' runs them; each is a module with HELP, add_options(parser) and run(options) -> Report
EXPERIMENTS = ["oracle10g", "column-scan", "tpch", "modes", "layouts", "pgbench"]


def module_of(name):
    return importlib.import_module(f"suite.{name.replace('-', '_')}")


def parser_of(name):
    module = module_of(name)
    parser = argparse.ArgumentParser(prog=f"bench/run {name}", description=module.__doc__,
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path.cwd() / "bench/results", metavar="FOLDER",
                        help="where the report's folder is put")
    module.add_options(parser)
    return parser


def run(name, arguments):
    options = parser_of(name).parse_args(arguments)
    out = Path(os.environ["BENCH_CALLER"], options.out)
    report = module_of(name).run(options)
    report.command = " ".join(["bench/run", name, *arguments])
    print(report.write(out / name))
    note(f"the report is in {out / name}")


def main(arguments):
    # ends as an interrupt does: servers are stopped on the way out
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if arguments[0] != "all":
        run(arguments[0], arguments[1:])
        return
    for name in EXPERIMENTS:
        parser_of(name).parse_args(arguments[1:])  # a wrong option is told before the first hour
    for name in EXPERIMENTS:
        note(f"{name}: {module_of(name).HELP}")
        run(name, arguments[1:])


try:
    main(sys.argv[1:])
except BenchError as error:
    note(f"error: {error}")
    sys.exit(1)
except KeyboardInterrupt:
    sys.exit(130)
