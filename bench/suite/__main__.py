"""
Reads the command line and runs experiments: python -m suite NAME... -- [OPTION...]; bench/run starts it.

Signals have their usual effect here, the end: bench/run then ends the servers and removes the temporary folders, as it does after
a kill -9, so there is one way only.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from . import BenchError, note


def module_of(name):
    """An experiment's module: HELP, add_options(parser), run(options) -> Report, and SMALL, arguments for one among all."""
    return import_module(f"suite.{name.replace('-', '_')}")


def parser_of(name, description, add_options=lambda parser: None):
    """What every experiment takes, and its own."""
    parser = argparse.ArgumentParser(prog=f"bench/run {name}", description=description, allow_abbrev=False,
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path.cwd() / "bench/results", metavar="FOLDER",
                        help="where the report's folder is put")
    add_options(parser)
    return parser


def arguments_of(names, arguments):
    """The arguments of each experiment; several run at a small scale."""
    if len(names) == 1:
        return {names[0]: arguments}
    parser_of("all", f"{', '.join(names)}: each at a small scale, with a report of its own.").parse_args(arguments)
    return {name: [*getattr(module_of(name), "SMALL", []), *arguments] for name in names}


def options_of(name, arguments):
    module = module_of(name)
    options = parser_of(name, module.__doc__, module.add_options).parse_args(arguments)
    options.out = Path(os.environ["BENCH_CALLER"], options.out)
    require_place(options.out / name)
    return options


def require_place(folder):
    """Refuse a place that cannot take a report, or that holds something else, before anything runs."""
    if folder.exists() and not (folder / "report.md").exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise BenchError(f"{folder} is there, and is no report: it is not replaced")
    parent = next(parent for parent in folder.parents if parent.exists())
    try:
        with tempfile.TemporaryDirectory(dir=parent, prefix=".bench."):
            pass
    except OSError as error:
        raise BenchError(f"the report cannot be written to {folder}: {error.strerror}") from error


def busyness():
    """The load that there is without us, for the report; told at once if it will spoil it."""
    load = os.getloadavg()[0]
    if load > os.cpu_count() / 2:
        note(f"warning: the machine is busy (load {load:.1f}): timings will be noisy")
    return {"load before": f"{load:.1f}"}


def run(name, options, arguments):
    """Run one experiment; returns its exit status."""
    before = busyness()
    report = module_of(name).run(options)
    report.settings |= before
    report.command = " ".join(["bench/run", name, *arguments])
    print(report.write(options.out / name), flush=True)
    note(f"the report is in {options.out / name}")
    return report.status


def told(action):
    """The exit status of what returns one, or 1 after an error that has been told."""
    try:
        return action()
    except (BenchError, OSError, subprocess.CalledProcessError) as error:
        if os.environ.get("BENCH_TRACE"):
            raise
        note(f"error: {error}")
        return 1


def run_all(options, arguments):
    """What fails does not keep the others from running."""
    failed = []
    for name in options:
        note(f"{name}: {module_of(name).HELP}")
        if told(lambda name=name: run(name, options[name], arguments[name])) != 0:
            failed.append(name)
    if failed:
        raise BenchError(f"failed: {', '.join(failed)}")
    return 0


def main(words):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    separator = words.index("--")
    names = words[:separator]
    arguments = arguments_of(names, words[separator + 1:])
    options = {name: options_of(name, arguments[name]) for name in names}
    return run_all(options, arguments) if len(names) > 1 else run(names[0], options[names[0]], arguments[names[0]])


sys.exit(told(lambda: main(sys.argv[1:])))
