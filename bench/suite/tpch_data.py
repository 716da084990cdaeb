"""TPC-H's data: files of tpchgen-cli, and the same rows as lists of VALUES."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import BenchError, note, require_space, work_folder
from .tpch_schema import TABLES, TYPES

GENERATOR = "tpchgen-cli==4.0.0"
# lineitem comes in so many files: the points of the load's curve
PARTS = 10
BATCH = 4096


def has_keys(scale):
    """Whether partsupp's primary key is one: TPC-H's formula repeats suppliers of a part where there are few suppliers."""
    suppliers = int(scale * 10000)
    return suppliers > 0 and all(step * times % suppliers for step in range(suppliers // 4, suppliers // 4 + 20)
                                 for times in (1, 2, 3))


class Data:
    """The files of one scale factor, in a folder that is kept or one that is gone at the end."""

    def __init__(self, scale, kept=None):
        """kept: a folder where the files may be already, and where they stay."""
        self.scale = scale
        self.batches_folder = None
        self.folder = (kept or work_folder("tpch")) / f"sf{scale:.10g}"
        if not self.folder.is_dir():
            generate(scale, self.folder)
        for table in TABLES:
            for path in self.files(table):
                if not path.is_file():
                    raise BenchError(f"{path} is missing; remove {self.folder} to have it generated anew")

    def files(self, table):
        if table == "lineitem":
            return [self.folder / table / f"{table}.{part}.tbl" for part in range(1, PARTS + 1)]
        return [self.folder / f"{table}.tbl"]

    def rows(self, table):
        """The number of a table's rows."""
        return sum(sum(1 for _ in open(path, "rb")) for path in self.files(table))

    def prepare_batches(self):
        """Put the batches down, so that no measurement waits for Python to make them."""
        note("preparing INSERT statements")
        self.batches_folder = work_folder("batches")
        for table in TABLES:
            with open(self.batches_folder / table, "w") as file:
                file.writelines(f"{batch}\n" for batch in make_batches(table, self.files(table)))

    def batches(self, table):
        """Lists of VALUES of about 4 kB."""
        with open(self.batches_folder / table) as file:
            for line in file:
                yield line.rstrip("\n")


def make_batches(table, files):
    """A table's rows as lists of VALUES: numbers bare, everything else quoted."""
    formats = ["{}" if re.match("int|numeric", TYPES[column]) else "'{}'" for column in TABLES[table]]
    row_format = f"({','.join(formats)})"
    batch, size = [], 0
    for path in files:
        with open(path) as file:
            for line in file:
                row = row_format.format(*line.rstrip("\n").replace("'", "''").split("|"))
                if size + len(row) >= BATCH and batch:
                    yield ",".join(batch)
                    batch, size = [], 0
                batch.append(row)
                size += len(row) + 1
    yield ",".join(batch)


def generate(scale, folder):
    """Make a scale's folder, whole or not at all."""
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    try:
        new.mkdir(parents=True)
    except OSError as error:
        raise BenchError(f"the folder for TPC-H's data cannot be made: {error}") from error
    try:
        require_space(scale * 1.2, new)
        run_generator(scale, new)
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def run_generator(scale, folder):
    note(f"installing {GENERATOR} for this run, and generating TPC-H's data at scale {scale:g}")
    generator = install()
    others = ",".join(table for table in TABLES if table != "lineitem")
    call(generator, "-q", "-s", scale, "-o", folder, "-T", others)
    call(generator, "-q", "-s", scale, "-o", folder, "-T", "lineitem", "-p", PARTS)
    for path in folder.rglob("*.tbl"):
        end_fields(path)


def end_fields(path):
    """PostgreSQL wants no delimiter after the last field, and the generator writes one."""
    new = path.with_suffix(".new")
    with open(path, "rb") as file, open(new, "wb") as out:
        out.writelines(line.removesuffix(b"|\n") + b"\n" for line in file)
    new.rename(path)


def install():
    """The generator, in a virtual environment that is gone when the run ends."""
    folder = work_folder("tpchgen")
    call(sys.executable, "-m", "venv", folder)
    call(folder / "bin/pip", "-q", "--disable-pip-version-check", "install", "--no-cache-dir", GENERATOR,
         hint="; without a network, --data FOLDER takes a folder of an earlier run with --data")
    return folder / "bin/tpchgen-cli"


def call(*command, hint=""):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        raise BenchError(f"{Path(command[0]).name} failed: {(result.stderr or result.stdout).strip()}{hint}")
