"""A private PostgreSQL with this extension, and what experiments ask of it."""

import re
import subprocess
import tempfile
import os
from pathlib import Path

import psycopg2

from . import BenchError, note

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
        path = Path(os.environ["BENCH_WORK"], "script.sql")
        path.write_text(script)
        path.chmod(0o644)
        environment = os.environ | {"PGHOST": self.folder, "PGUSER": "postgres"}
        if settings:
            environment["PGOPTIONS"] = " ".join(f"-c {name}={value}" for name, value in settings.items())
        result = subprocess.run([f"{self.bindir}/pgbench", "-n", "-f", path, *map(str, options), database],
                                env=environment, text=True, capture_output=True)
        found = re.search(r"^tps = ([0-9.]+)", result.stdout, re.MULTILINE)
        if result.returncode != 0 or not found:
            raise BenchError(f"pgbench failed: {result.stderr.strip()}")
        return float(found.group(1))

    def versions(self):
        """What a report says of the server."""
        with self.connect() as connection:
            return {
                "PostgreSQL": connection.value("SELECT version()"),
                "tde_column": connection.value("SELECT extversion FROM pg_extension WHERE extname = 'tde_column'"),
                "settings": ", ".join(f"{name}={value}" for name, value in self.settings.items()),
            }


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
