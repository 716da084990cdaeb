"""
Two builds of this extension beside each other: the working tree, and a revision of its repository. Before a release it tells what
has become slower since the last one. Exit status 3: something has.
"""

import subprocess
import time
from argparse import SUPPRESS
from statistics import median
from typing import NamedTuple

from . import BenchError, require_space, work_folder
from .intervals import NEGLIGIBLE, compare, enough
from .options import at_least, millions
from .report import Report, digits
from .samples import Case, Progress, measure
from .server import Server, source

HELP = "two builds of this extension beside each other"

SOMETHING_SLOWER = 3
# two servers share the machine's memory
SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "4GB", "min_wal_size": "1GB"}
WORD = "left(md5(g::text), 10)"
LINE_COLUMNS = """quantity encrypted_numeric(15,2,aes256,salt,{mac}), price encrypted_numeric(15,2,aes256,salt,{mac}),
    discount encrypted_numeric(15,2,aes256,salt,{mac}), tax encrypted_numeric(15,2,aes256,salt,{mac}),
    returnflag encrypted_bpchar(1,aes256,salt,{mac}), linestatus encrypted_bpchar(1,aes256,salt,{mac}),
    shipdate encrypted_date(aes256,salt,{mac})"""
LINE_VALUES = """1 + g % 50, 900 + g * 7919::bigint % 104000 / 1.03, g % 11 / 100.0, g % 9 / 100.0, substr('ANR', 1 + g % 3, 1),
    substr('FO', 1 + g % 2, 1), date '1992-01-02' + g % 2526"""
Q1 = """SELECT returnflag::text, linestatus::text, sum(quantity), sum(price), sum(price * (1 - discount)),
    sum(price * (1 - discount) * (1 + tax)), avg(quantity), avg(price), avg(discount), count(*)
    FROM lines WHERE shipdate <= date '1998-09-02' GROUP BY returnflag, linestatus ORDER BY returnflag, linestatus"""


def add_options(parser):
    parser.add_argument("--against", required=True, default=SUPPRESS, metavar="REV",
                        help="the revision to compare the working tree with")
    parser.add_argument("--mac", choices=("sha1", "gcm"), default="sha1", help="of the encrypted columns; both builds must know it")
    parser.add_argument("--rows", type=millions, default="0.5", metavar="MILLIONS", help="rows of the scanned tables")
    parser.add_argument("--rounds", type=at_least(enough(len(workloads(1)))), default=20,
                        help="repetitions, each with two runs of either build")


class Workload(NamedTuple):
    """A statement to be timed, after one that is not; with a protocol it is a script for pgbench, and a transaction is timed."""

    statement: str
    prepare: str = ""
    protocol: str = ""
    connect: bool = False       # a session for each transaction


class Table(NamedTuple):
    columns: str
    values: str = ""
    rows: int = 0

    def fill(self, name):
        create = f"CREATE TABLE {name} ({self.columns})"
        return create + (f"; INSERT INTO {name} SELECT {self.values} FROM generate_series(1, {self.rows}) g" if self.rows else "")


def tables(rows, few, mac):
    """Name -> Table: what both revisions understand, with the same values on both servers."""
    two = f"id int PRIMARY KEY, a encrypted_text(aes256,salt,{mac}), b encrypted_int4(aes256,nosalt,{mac})"
    return {
        "nomac": Table("a encrypted_text(aes256,salt,nomac)", WORD, rows),
        "mac": Table(f"a encrypted_text(aes256,salt,{mac})", WORD, rows),
        "nosalt": Table(f"a encrypted_text(aes256,nosalt,{mac})", WORD, rows),
        "grouped": Table(f"a encrypted_text(aes256,salt,{mac})", "md5((g % 1000)::text)", rows),
        "sorted": Table(f"a encrypted_text(aes256,salt,{mac}), b encrypted_int4(aes256,nosalt,{mac})", f"{WORD}, g", few),
        "joined": Table(f"b encrypted_int4(aes256,salt,{mac})", "g", few),
        "found": Table(f"id encrypted_int4(aes256,nosalt,{mac}) PRIMARY KEY, a encrypted_text(aes256,salt,{mac})",
                       f"g, {WORD}", few),
        "lines": Table(LINE_COLUMNS.format(mac=mac), LINE_VALUES, few),
        "numbers": Table(f"i encrypted_int4(aes256,salt,{mac}), n encrypted_numeric(15,2,aes256,salt,{mac}), z encrypted_timestamptz(aes256,salt,{mac})",
                         "g, g / 7.0, timestamptz '2020-01-01 00:00 UTC' + g * interval '1 minute'", rows),
        "loops": Table(two),
        "copied": Table(two),
    }


def workloads(few, file=None):
    """Name -> Workload; the file is what COPY reads."""
    turns = max(few // 10, 10)
    insert = loop(turns, "INSERT INTO loops VALUES (i, 'name ' || i, i)")
    refill = f"TRUNCATE loops; {insert}"
    lookup = f"\\set id random(1, {few})\nSELECT a FROM found WHERE id = :id;\n"
    return {
        "avg(length(a)), nomac": Workload("SELECT avg(length(a)) FROM nomac"),
        "avg(length(a)), mac": Workload("SELECT avg(length(a)) FROM mac"),
        "a = constant, nosalt": Workload("SELECT count(*) FROM nosalt WHERE a = 'c4ca4238a0'"),
        "a = constant, salt": Workload("SELECT count(*) FROM mac WHERE a = 'c4ca4238a0'"),
        "int4 < constant": Workload("SELECT count(*) FROM numbers WHERE i < 1000"),
        "sum(numeric)": Workload("SELECT sum(n) FROM numbers"),
        "max(timestamptz), ever larger ones": Workload("SELECT max(z) FROM numbers"),
        "COPY, two columns": Workload(f"COPY copied FROM '{file}'", "TRUNCATE copied"),
        "loop of INSERT": Workload(insert, "TRUNCATE loops"),
        "loop of UPDATE by id": Workload(loop(turns, "UPDATE loops SET a = 'other ' || i, b = i + 1 WHERE id = i"), refill),
        "loop of SELECT by id": Workload(loop(turns, "SELECT a, b INTO x, y FROM loops WHERE id = i"), refill),
        "ORDER BY": Workload("SELECT count(*) FROM (SELECT a FROM sorted ORDER BY a OFFSET 0) s",
                             "DROP INDEX IF EXISTS sorted_a"),
        "CREATE INDEX": Workload("CREATE INDEX sorted_a ON sorted (a)", "DROP INDEX IF EXISTS sorted_a"),
        "hash join": Workload("SELECT count(*) FROM sorted JOIN joined USING (b)",
                              "SET enable_mergejoin = off; SET enable_nestloop = off"),
        "GROUP BY": Workload("SELECT count(*) FROM (SELECT a, count(*) FROM grouped GROUP BY a) s"),
        "aggregate as TPC-H Q1": Workload(Q1),
        "lookup, simple protocol": Workload(lookup, protocol="simple"),
        "lookup, prepared": Workload(lookup, protocol="prepared"),
        "lookup, a session each": Workload(lookup, protocol="simple", connect=True),
    }


def loop(turns, body):
    return f"DO $$ DECLARE x text; y int; BEGIN FOR i IN 1..{turns} LOOP {body}; END LOOP; END $$"


def tree_of(revision):
    """The files of a revision in a folder of their own, and the commit's short name."""
    found = subprocess.run(["git", "rev-parse", "--verify", "--short", f"{revision}^{{commit}}"], capture_output=True, text=True)
    if found.returncode != 0:
        raise BenchError(f'there is no revision "{revision}" here ({found.stderr.strip()})')
    commit = found.stdout.strip()
    archive = subprocess.run(["git", "archive", commit], stdout=subprocess.PIPE, check=True)
    folder = work_folder("old")
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    if not (folder / "tde_column.control").exists():
        raise BenchError(f"revision {commit} holds no extension tde_column")
    return folder, commit


class Build:
    """A server with one of the builds, and a session on it that each round makes anew."""

    def __init__(self, name, server):
        self.name, self.server, self.session = name, server, None

    def load(self, filled, progress):
        with self.server.connect() as connection:
            for name, table in filled.items():
                connection.execute(table.fill(name))
                progress.step(f"{self.name} {name}")
            connection.execute("VACUUM (FREEZE, ANALYZE)")
            connection.execute("CHECKPOINT")

    def renew(self, filled):
        """A session that has its keys and knows the tables already."""
        if self.session:
            self.session.close()
        self.session = self.server.connect()
        for name in filled:
            self.session.rows(f"SELECT * FROM {name} LIMIT 1")

    def seconds(self, workload, few):
        if workload.protocol:
            turns = max(few // (500 if workload.connect else 50), 10)
            connect = ["-C"] if workload.connect else []
            return 1 / self.server.pgbench(workload.statement, "-c", 1, "-t", turns, "-M", workload.protocol, *connect)
        if workload.prepare:
            self.session.execute(workload.prepare)
        begin = time.perf_counter()
        self.session.execute(workload.statement)
        return time.perf_counter() - begin


def turns(builds, filled, loads, few):
    """The cases of a round: each workload on old, new, old, new; in the next round on new, old, new, old."""
    def cases(number):
        for build in builds:
            build.renew(filled)
        order = builds if number % 2 == 0 else builds[::-1]
        return [Case(name, f"{build.name} {run}", lambda build=build, workload=workload: build.seconds(workload, few))
                for name, workload in loads.items() for run in (1, 2) for build in order]
    return cases


def require_same_answers(builds, loads):
    for name, workload in loads.items():
        if workload.statement.startswith("SELECT"):
            answers = [sorted(map(str, build.session.rows(workload.statement))) for build in builds]
            if answers[0] != answers[1]:
                raise BenchError(f"{name}: the two builds give different answers")


def old_server(tree, commit):
    try:
        return Server(tree, **SETTINGS)
    except BenchError as error:
        raise BenchError(f"revision {commit} cannot be compared: {error}") from error


def run(options):
    rows, few = options.rows, max(options.rows // 5, 10)
    tree, commit = tree_of(options.against)
    require_space(rows * 2000 / 1e9 + 8)
    filled, loads = tables(rows, few, options.mac), workloads(few, source(few))
    with old_server(tree, commit) as old, Server(**SETTINGS) as new:
        builds = [Build("old", old), Build("new", new)]
        progress = Progress("loading", [table.rows or 1 for _ in builds for table in filled.values()])
        for build in builds:
            try:
                build.load(filled, progress)
            except BenchError as error:
                raise BenchError(f"the {build.name} build cannot load the tables: {error}") from error
            build.renew(filled)
        require_same_answers(builds, loads)
        samples = measure("regress", turns(builds, filled, loads, few), options.rounds)
        return report(options, few, commit, samples, new.versions())


def report(options, few, commit, samples, versions):
    result = Report(f"The working tree beside {commit}",
                    f"Two servers, columns with {options.mac}, {options.rows:,} rows in the scanned tables and {few:,} in the others; "
                    f"{options.rounds} rounds after one that warms up, each with new sessions. In a round each workload runs on old, new, old, new "
                    "(every second round: new, old, new, old). Ratio: of the faster of a round's two runs, new / old; the median "
                    "over the rounds, and between what it lies, with 95 % for all workloads together (order statistics). Noise: how "
                    "a build's second run differs from its first. A workload is slower or faster if the whole interval is further "
                    f"from 1 than the noise, and than {NEGLIGIBLE:.0%}. Both builds' answers are the same.",
                    versions | {"repetitions": options.rounds, "old": commit})
    names = samples.workloads()
    found = {name: compare(pairs(samples, name, "old"), pairs(samples, name, "new"), len(names)) for name in names}
    slower = [workload for workload, comparison in found.items() if comparison.verdict() == "slower"]
    result.note(f"**Slower: {'; '.join(slower)}.**" if slower else "Nothing is slower.")
    result.table(["workload", "old, ms", "new, ms", "new / old", "between", "noise", "verdict"],
                 [[workload, *[milliseconds(samples, workload, build) for build in ("old", "new")], f"**{one.ratio:.3f}**",
                   f"{one.low:.3f} .. {one.high:.3f}", f"{one.noise:.1%}", one.verdict()] for workload, one in found.items()])
    result.keep("regress", samples)
    result.bars("ratios", f"time, new / {commit}", "ratio", list(found), {"new / old": [one.ratio for one in found.values()]},
                spread={(workload, "new / old"): (one.low, one.high) for workload, one in found.items()})
    result.status = SOMETHING_SLOWER if slower else 0
    return result


def pairs(samples, workload, build):
    """The two runs of each round."""
    return list(zip(*[samples.of(workload, f"{build} {run}") for run in (1, 2)]))


def milliseconds(samples, workload, build):
    return digits(1e3 * median(map(min, pairs(samples, workload, build))))
