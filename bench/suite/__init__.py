"""Experiments on what column encryption costs; bench/run starts them."""

import os
import shutil
import sys
from pathlib import Path


class BenchError(Exception):
    """Something that the user can mend; told without a traceback."""


def note(text):
    """One line of progress, on standard error; on a terminal it takes the place of a bar."""
    clear = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{clear}bench: {text}", file=sys.stderr, flush=True)


def work_folder(name):
    """A new folder that is removed when bench/run ends."""
    folder = Path(os.environ["BENCH_WORK"], name)
    folder.mkdir(mode=0o755)
    return folder


def require_space(gigabytes, folder=None):
    """Refuse to begin what the disk cannot hold."""
    folder = folder or os.environ["BENCH_WORK"]
    free = shutil.disk_usage(folder).free / 1e9
    if free < gigabytes:
        raise BenchError(f"{gigabytes:.1f} GB of disk space are needed in {folder}, and {free:.1f} GB are free; "
                         "TMPDIR chooses another disk, a smaller scale needs less")
