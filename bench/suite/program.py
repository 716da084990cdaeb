"""Experiments' C programs: compiled into the run's folder, and run."""

import csv
import os
import shlex
import subprocess
from pathlib import Path

from . import BenchError

FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-pthread", "-Isrc"]
# the part of src/ that does not need PostgreSQL
PURE_LAYER = sorted(map(str, Path("src/crypto").glob("*.c")))


def build(source, *extra_sources):
    """Compile C files, given relative to the top folder, with OpenSSL; the path of the program, named as the first of them."""
    program = Path(os.environ["BENCH_WORK"], Path(source).stem)
    command = [*compiler(), *FLAGS, "-o", program, source, *extra_sources, "-lcrypto"]
    try:
        result = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise BenchError(f"{command[0]} cannot be run ({error.strerror}): install a C compiler, or set CC to one") from None
    if result.returncode != 0:
        raise BenchError(f"{source} could not be compiled by {shlex.join(map(str, command))}:\n{result.stderr.strip()}")
    return program


def compiler():
    return shlex.split(os.environ.get("CC", "")) or ["gcc"]


def versions():
    """What a report says of the compiler."""
    first = subprocess.run([*compiler(), "--version"], capture_output=True, text=True).stdout.partition("\n")[0]
    return {"compiler": f"{first}, {' '.join(FLAGS[:2])}"}


def rows(program, *arguments):
    """Run a program; the rows of the CSV that it writes, each as soon as it is there."""
    with subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield from csv.reader(process.stdout)
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise BenchError(f"{program.name} failed with status {process.returncode}")
