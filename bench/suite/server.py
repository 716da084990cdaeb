"""A private PostgreSQL with this extension, and what experiments ask of it."""

import os
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import psycopg2

from . import BenchError, note, work_folder

# Single statements are compared, so nothing else may happen meanwhile; WAL segments are recycled as on a server that has run
# for a while.
SETTINGS = {
    "autovacuum": "off",
    "shared_buffers": "2GB",
    "work_mem": "64MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "16GB",
    "min_wal_size": "4GB",
    "checkpoint_timeout": "1h",
    "synchronous_commit": "off",
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
    "jit": "off",
}


class Server:
    """A server with the extensions tde_column (wallet open) and pgcrypto; a context manager that ends it."""

    def __init__(self, tree=None, **settings):
        self.settings = SETTINGS | settings
        note("building and starting a server" + (f" of {tree}" if tree else ""))
        with tempfile.NamedTemporaryFile("w", dir=os.environ["BENCH_WORK"]) as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in self.settings.items())
            file.flush()
            self.process = subprocess.Popen(["bench/server.sh", file.name, *([str(tree)] if tree else [])], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            answer = self.process.stdout.readline().split()
        if answer[:1] != ["ready"]:
            raise BenchError("the server could not be started")
        self.folder, self.bindir = answer[1:]
        with self.connect() as connection:
            connection.execute("CREATE EXTENSION tde_column")
            connection.execute("SELECT tde_wallet_create()")
            connection.execute("CREATE EXTENSION pgcrypto")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def connect(self, **settings):
        return Connection(self, settings)

    def restart(self, **environment):
        """Stop and start it, with these variables in its environment; connections break."""
        words = " ".join(f"{name}={value}" for name, value in environment.items())
        self.process.stdin.write(f"restart {words}\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "ok\n":
            raise BenchError("the server could not be restarted")

    def pgbench(self, script, *options, database="postgres", settings=None):
        """Transactions a second of a pgbench script (a text)."""
        files = self.script_files({"script": script})
        output = self.run_pgbench("-n", *files, *options, database, settings=settings)
        return float(re.search(r"^tps = ([0-9.]+)", output, re.MULTILINE).group(1))

    def pgbench_mix(self, scripts, *options, database="postgres", settings=None):
        """
        Seconds of a transaction of each of several scripts (name -> text), from one pgbench that picks a script anew for each
        transaction, so that all of them meet the same disturbances.  The middle half of the times counts, so that pauses do not.
        """
        log = work_folder("pgbench")
        try:
            self.run_pgbench("-n", "--log", f"--log-prefix={log}/log", *self.script_files(scripts), *options, database,
                             settings=settings)
            times = {name: [] for name in scripts}
            names = list(scripts)
            for path in log.iterdir():
                for fields in map(str.split, path.read_text().splitlines()):
                    times[names[int(fields[3])]].append(float(fields[2]) / 1e6)
        finally:
            shutil.rmtree(log)
        return {name: middle_mean(seconds) for name, seconds in times.items()}

    def script_files(self, scripts):
        """Write scripts where pgbench finds them; its options that name them."""
        options = []
        for name, script in scripts.items():
            path = Path(os.environ["BENCH_WORK"], f"{name}.sql")
            path.write_text(script)
            path.chmod(0o644)
            options += ["-f", path]
        return options

    def run_pgbench(self, *options, settings=None):
        """What pgbench prints; settings are those of its sessions."""
        environment = os.environ | {"PGHOST": self.folder, "PGUSER": "postgres"}
        if settings:
            environment["PGOPTIONS"] = " ".join(f"-c {name}={value}" for name, value in settings.items())
        result = subprocess.run([f"{self.bindir}/pgbench", *map(str, options)], env=environment, text=True, capture_output=True)
        if result.returncode != 0:
            raise BenchError(f"pgbench failed: {result.stderr.strip()}")
        return result.stdout

    def versions(self):
        """What a report says of the server."""
        with self.connect() as connection:
            return {
                "PostgreSQL": connection.value("SELECT version()"),
                "tde_column": connection.value("SELECT extversion FROM pg_extension WHERE extname = 'tde_column'"),
                "settings": ", ".join(f"{name}={value}" for name, value in self.settings.items()),
            }


def middle_mean(figures):
    """The mean of the middle half."""
    if len(figures) < 4:
        raise BenchError("too few transactions to take the mean of the middle half")
    cut = len(figures) // 4
    return statistics.mean(sorted(figures)[cut:len(figures) - cut])


class Connection:
    """A session in autocommit mode; a context manager that closes it."""

    def __init__(self, server, settings):
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        self.session = psycopg2.connect(host=server.folder, user="postgres", dbname="postgres", options=options)
        self.session.autocommit = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session.close()

    def execute(self, statement):
        with self.session.cursor() as cursor:
            cursor.execute(statement)

    def rows(self, statement):
        with self.session.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    def value(self, statement):
        return self.rows(statement)[0][0]

    def copy_in(self, table, path):
        """COPY a file of PostgreSQL's text format into a table, through the protocol."""
        with self.session.cursor() as cursor, open(path, "rb") as file:
            cursor.copy_expert(f"COPY {table} FROM STDIN", file, size=1 << 20)
