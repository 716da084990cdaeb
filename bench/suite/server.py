"""A private PostgreSQL with this extension, and what experiments ask of it."""

import os
import re
import shutil
import statistics
import subprocess
import tempfile
from contextlib import contextmanager
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
    """
    A server with the extensions tde_column (wallet open) and pgcrypto; a context manager that ends it.  tree: another source tree of
    tde_column than this one; peers: those of other extensions that are installed beside it.
    """

    def __init__(self, tree=None, peers=(), **settings):
        self.settings = SETTINGS | settings
        note("building and starting a server" + (f" of {tree}" if tree else ""))
        with tempfile.NamedTemporaryFile("w", dir=os.environ["BENCH_WORK"]) as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in self.settings.items())
            file.flush()
            self.process = subprocess.Popen(["bench/server.sh", file.name, str(tree or ""), *map(str, peers)], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            answer = self.process.stdout.readline().split()
        if answer[:1] != ["ready"]:
            raise BenchError("the server" + (f" of {tree}" if tree else "") + " could not be built and started")
        self.folder, self.bindir = answer[1:]
        try:
            self.prepare()
        except BaseException:
            self.close()
            raise

    def prepare(self):
        with self.connect() as connection:
            connection.execute("CREATE EXTENSION tde_column")
            self.passphrase = connection.value("SELECT tde_wallet_create()")
            connection.execute("CREATE EXTENSION pgcrypto")

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def connect(self, database="postgres", **settings):
        return Connection(self, database, settings)

    def restart(self, **environment):
        """Stop and start it, with these variables in its environment; connections break."""
        words = " ".join(f"{name}={value}" for name, value in environment.items())
        self.process.stdin.write(f"restart {words}\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "ok\n":
            raise BenchError("the server could not be restarted")
        with self.connect() as connection:
            connection.execute(f"SELECT tde_wallet_open('{self.passphrase}')")

    def last_words(self):
        """The end of its log: why it ended."""
        try:
            lines = Path(self.folder, "log/server.log").read_text(errors="replace").splitlines()
        except OSError:
            lines = []
        return "\n".join(f"  {line}" for line in lines[-5:])

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


def source(rows):
    """A file for COPY that the servers can read."""
    path = work_folder("copy") / "rows"
    with open(path, "w") as file:
        file.writelines(f"{row}\tname {row}\t{row}\n" for row in range(rows))
    path.chmod(0o644)
    return path


def middle_mean(figures):
    """The mean of the middle half."""
    if len(figures) < 4:
        raise BenchError("too few transactions to take the mean of the middle half")
    cut = len(figures) // 4
    return statistics.mean(sorted(figures)[cut:len(figures) - cut])


class Connection:
    """A session in autocommit mode; a context manager that closes it.  Statements that fail are errors without a traceback."""

    def __init__(self, server, database, settings):
        self.server = server
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        try:
            self.session = psycopg2.connect(host=server.folder, user="postgres", dbname=database, options=options)
        except psycopg2.Error as error:
            raise BenchError(f"there is no connection to the server: {first_line(error)}\n{server.last_words()}") from error
        self.session.autocommit = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.session.close()

    @contextmanager
    def cursor(self, statement):
        """A cursor for this statement."""
        try:
            with self.session.cursor() as cursor:
                yield cursor
        except psycopg2.Error as error:
            text = f"{first_line(error)}; the statement was: {first_line(statement)}"
            if self.session.closed:
                text = f"the connection broke: {text}\n{self.server.last_words()}"
            raise BenchError(text) from error

    def execute(self, statement):
        with self.cursor(statement) as cursor:
            cursor.execute(statement)

    def rows(self, statement):
        with self.cursor(statement) as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    def value(self, statement):
        return self.rows(statement)[0][0]

    def copy_in(self, table, path, options=""):
        """COPY a file of PostgreSQL's text format into a table, through the protocol; options are COPY's."""
        statement = f"COPY {table} FROM STDIN {options}"
        with self.cursor(statement) as cursor, open(path, "rb") as file:
            cursor.copy_expert(statement, file, size=1 << 20)


def first_line(text):
    return str(text).strip().partition("\n")[0]
