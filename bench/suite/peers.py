"""
One table of everything that is timed elsewhere: scans, lookups, sorts, loading, maintenance; encrypted columns beside plain ones, pgcrypto and,
if its source tree is given, column_encrypt. A row on which a peer is faster is told.
"""

import os
import re
import time
from pathlib import Path
from typing import Callable, NamedTuple

from . import BenchError, pgcrypto, require_space
from .options import millions, some_of, whole
from .pgbench import encrypted_type
from .report import Report
from .samples import Case, Progress, measure
from .server import Server, source

HELP = "every kind of work beside plain columns, pgcrypto and column_encrypt, in one table"
PEER_IS_FASTER = 3
PEERS = ["pgcrypto", "column_encrypt"]
PASSPHRASE = "a master passphrase"
CLIENTS = ["1", "2", "8", "200"]
SESSIONS = "lookup, a session each"
ELSEWHERE = "elsewhere"  # column_encrypt's script takes a type of its own for ours where both are
OURS = {"gcm": "aes256,salt,gcm", "sha1": "aes256,salt,sha1", "nomac": "aes256,salt,nomac", "nosalt": "aes256,nosalt,gcm"}
KEY = "aes256,nosalt,gcm"  # of the column that lookups search
# table -> columns: type and value of row g
TABLES = {
    "numbers": {"i": ("int4", "g"), "n": ("numeric(15,2)", "g / 7.0"), "z": ("timestamptz", "timestamptz '2020-01-01 00:00 UTC' + g * interval '1 minute'"),
                "a": ("text", "left(md5(g::text), 10)")},
    "lines": {"quantity": ("numeric(15,2)", "1 + g % 50"), "price": ("numeric(15,2)", "900 + g * 7919::bigint % 104000 / 1.03"),
              "discount": ("numeric(15,2)", "g % 11 / 100.0"), "tax": ("numeric(15,2)", "g % 9 / 100.0"), "flag": ("text", "substr('ANR', 1 + g % 3, 1)"),
              "status": ("text", "substr('FO', 1 + g % 2, 1)"), "shipped": ("date", "date '1992-01-02' + g % 2526")},
    "sorted": {"s": ("text", "left(md5(g::text), 10)")},
    "found": {"k": ("text", "left(md5(g::text), 16)"), "a": ("text", "'holder ' || g")},
    "copied": {"a": ("text", "'name ' || g"), "b": ("int4", "g")},
    "loops": {"a": ("text", "'name ' || g"), "b": ("int4", "g")},
}
Q1 = """SELECT {flag}, {status}, sum({quantity}), sum({price}), sum({price} * (1 - {discount})), sum({price} * (1 - {discount}) * (1 + {tax})),
    avg({quantity}), avg({price}), avg({discount}), count(*) FROM lines WHERE {shipped} <= date '1998-09-02' GROUP BY 1, 2 ORDER BY 1, 2"""
TURNS = 10000  # of a PL/pgSQL loop
SMALL_SORT, LARGE_SORT = "256MB", "16MB"


def add_options(parser):
    parser.add_argument("--column-encrypt", type=Path, metavar="TREE", help="the source tree of column_encrypt 4.0, to be built and measured, too")
    parser.add_argument("--rows", type=millions, default="1", metavar="MILLIONS", help="rows of the scanned table; others have 3 tenths")
    parser.add_argument("--clients", type=some_of(CLIENTS), default=",".join(CLIENTS), metavar="LIST", help="numbers of pgbench's clients, with commas")
    parser.add_argument("--seconds", type=whole, default=2, help="time of each run of pgbench")
    parser.add_argument("--rounds", type=whole, default=7, help="repetitions of each statement")


class Work(NamedTuple):
    """A statement; {x} reads the column x, {x=expression} makes its value; wanted: variant -> ratio to plain."""

    table: str
    statement: str
    wanted: dict
    settings: str = ""
    prepare: str = ""


def works():
    """Name -> Work: those of one session."""
    loop = "DO $$ DECLARE x text; y int; BEGIN FOR g IN 1..{turns} LOOP {body}; END LOOP; END $$".replace("{turns}", str(TURNS))
    filled = loop.replace("{body}", "INSERT INTO loops (id, a, b) VALUES (g, {a='name ' || g}, {b=g})")
    update = "UPDATE loops SET a = {a='other ' || g}, b = {b=g + 1} WHERE id = g"
    return {
        "avg(length(text))": Work("numbers", "SELECT avg(length({a})) FROM numbers", {"sha1": 2.0, "nosalt": 1.7}),
        "int4 < constant": Work("numbers", "SELECT count(*) FROM numbers WHERE {i} < 1000", {"gcm": 1.8}),
        "sum(numeric)": Work("numbers", "SELECT sum({n}) FROM numbers", {"gcm": 1.4}),
        "max(timestamptz)": Work("numbers", "SELECT max({z}) FROM numbers", {"gcm": 2.0}),
        "TPC-H Q1, seven columns": Work("lines", Q1, {"gcm": 1.5}),
        "ORDER BY text": Work("sorted", "SELECT count(*) FROM (SELECT {s} AS s FROM sorted ORDER BY {s} OFFSET 0) t", {"gcm": 1.6, "sha1": 2.2},
                              f"SET work_mem = '{SMALL_SORT}'"),
        "ORDER BY text, spilling": Work("numbers", "SELECT count(*) FROM (SELECT {a} AS s FROM numbers ORDER BY {a} OFFSET 0) t", {"gcm": 1.8},
                                        f"SET work_mem = '{LARGE_SORT}'"),
        "COPY, two columns": Work("copied", "COPY", {"nomac": 1.2, "gcm": 1.35, "sha1": 1.6}, prepare="TRUNCATE copied"),
        "loop of INSERT": Work("loops", filled, {"sha1": 1.08}, prepare="TRUNCATE loops"),
        "loop of UPDATE by id": Work("loops", loop.replace("{body}", update), {"sha1": 1.08}, prepare=f"TRUNCATE loops; {filled}"),
        "loop of SELECT by id": Work("loops", loop.replace("{body}", "SELECT {a}, {b} INTO x, y FROM loops WHERE id = g"), {"sha1": 1.08},
                                     prepare=f"TRUNCATE loops; {filled}"),
        "ANALYZE": Work("numbers", "ANALYZE numbers", {"gcm": 1.4}),
        "VACUUM FREEZE": Work("numbers", "VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) numbers", {"gcm": 1.4}),
    }


# ---- variants: a schema for each ----

class Variant(NamedTuple):
    """How a column is declared, read and written."""

    declared: Callable[[str, str], str] = lambda base, column: base
    read: Callable[[str, str], str] = lambda column, base: column
    written: Callable[[str], str] = lambda value: value
    session: str = ""       # what each session begins with
    copies: bool = True     # COPY encrypts; otherwise it loads a temporary table, and INSERT encrypts
    clients: bool = False   # is in the lookups of pgbench
    analyzed: bool = True
    database: str = "postgres"


def read_as_text(column, base):
    return f"{column}::text" if base == "text" else f"{column}::text::{base}"


def variants_of(options):
    kinds = {"plain": Variant(clients=True)}
    for name, spec in OURS.items():
        kinds[name] = Variant(lambda base, column, spec=spec: encrypted_type(base, KEY if column == "k" else spec), clients=name == "gcm")
    kinds["pgcrypto"] = Variant(lambda base, column: "bytea", pgcrypto.decrypt, pgcrypto.encrypt, copies=False, clients=True)
    if options.column_encrypt:
        kinds["column_encrypt"] = Variant(lambda base, column: "encrypt.encrypted_text", read_as_text, lambda value: f"({value})::text::encrypt.encrypted_text",
                                          session=f"SELECT encrypt.load_key('{PASSPHRASE}')",
                                         analyzed=False, database=ELSEWHERE)
    return kinds


def statement_of(template, table, variant):
    """The template with {column} and {column=expression} as this variant writes them."""
    def written(match):
        column, value = match.groups()
        return variant.written(value) if value else variant.read(column, TABLES[table][column][0])

    return re.sub(r"{(\w+)(?:=(.*?))?}", written, template)


# ---- tables ----

def rows_of(options):
    """A table's rows at the start."""
    few = max(options.rows * 3 // 10, 10)
    return {"numbers": options.rows, "lines": few, "sorted": few, "found": few, "copied": 0, "loops": 0}


def create(connection, variant, table, rows):
    columns = TABLES[table]
    key = " PRIMARY KEY" if table == "loops" else ""
    declared = ", ".join(f"{column} {variant.declared(base, column)}" for column, (base, _) in columns.items())
    values = ", ".join(variant.written(f"({value})::{base}") for base, value in columns.values())
    connection.execute(f"CREATE TABLE {table} (id int{key}, {declared})")
    connection.execute(f"INSERT INTO {table} SELECT g, {values} FROM generate_series(1, {rows}) g")
    if table == "found" and variant.clients:
        connection.execute("CREATE INDEX ON found (k)")


def load(server, kinds, options):
    rows = rows_of(options)
    progress = Progress("peers, load", [count + 1 for count in rows.values()] * len(kinds))
    if options.column_encrypt:
        with server.connect() as connection:
            connection.execute(f"CREATE DATABASE {ELSEWHERE}")
        with server.connect(ELSEWHERE) as connection:
            connection.execute("CREATE SCHEMA encrypt; CREATE EXTENSION column_encrypt CASCADE")
            connection.value(f"SELECT encrypt.register_key('a data key of thirty-two letters', '{PASSPHRASE}')")
    sessions = {}
    for name, variant in kinds.items():
        sessions[name] = server.connect(variant.database, search_path=f"{name},public")
        sessions[name].execute(f"CREATE SCHEMA {name}; {variant.session}")
        for table, count in rows.items():
            create(sessions[name], variant, table, count)
            progress.step(f"{name} {table}")
        sessions[name].execute(f"VACUUM (FREEZE{', ANALYZE' if variant.analyzed else ''}) {', '.join(rows)}")
    sessions["plain"].execute("CHECKPOINT")
    return sessions


# ---- runs ----

def copying(variant, path):
    """COPY of the file into the table copied."""
    if variant.copies:
        return f"COPY copied FROM '{path}'"
    return f"""CREATE TEMP TABLE loaded (id int, a text, b int); COPY loaded FROM '{path}';
               INSERT INTO copied SELECT id, {variant.written('a')}, {variant.written('b')} FROM loaded; DROP TABLE loaded"""


def statements(work, variant, path):
    """What is run before the time is taken, and then."""
    prepare = "; ".join(filter(None, [work.settings or "RESET work_mem", statement_of(work.prepare, work.table, variant)]))
    return prepare, copying(variant, path) if work.statement == "COPY" else statement_of(work.statement, work.table, variant)


def timed(session, prepare, statement):
    session.execute(prepare)
    begin = time.perf_counter()
    session.execute(statement)
    return time.perf_counter() - begin


def statement_cases(sessions, kinds, path):
    """Of all variants of ours those that a goal names, gcm always, and the peers."""
    for name, work in works().items():
        for variant, kind in kinds.items():
            if (variant in OURS and variant != "gcm" and variant not in work.wanted) or (name == "ANALYZE" and not kind.analyzed):
                continue
            prepare, statement = statements(work, kind, path)
            yield Case(name, variant, lambda session=sessions[variant], prepare=prepare, statement=statement: timed(session, prepare, statement))


def lookup_cases(server, kinds, options):
    """Seconds of a transaction as a client sees them: sessions of their own for each, and prepared statements."""
    few = rows_of(options)["found"]

    def seconds(variant, kind, clients, words):
        value = kind.written("left(md5(:i::text), 16)")
        script = f"\\set i random(1, {few})\nSELECT {kind.read('a', 'text')} FROM found WHERE k = {value};\n"
        rate = server.pgbench(script, "-c", clients, "-j", min(int(clients), os.cpu_count()), "-T", options.seconds, *words,
                              settings={"search_path": f"{variant},public"})
        return int(clients) / rate

    for variant, kind in kinds.items():
        if kind.clients:
            yield Case(SESSIONS, variant, lambda variant=variant, kind=kind: seconds(variant, kind, 1, ["-C"]))
    for clients in options.clients:
        for variant, kind in kinds.items():
            if kind.clients:
                yield Case(f"lookup, prepared, {clients}", variant,
                           lambda variant=variant, kind=kind, clients=clients: seconds(variant, kind, clients, ["-M", "prepared"]))


def check(sessions, kinds):
    """All variants give the same answers, and find what they look up by an index."""
    for name, work in works().items():
        if work.statement.startswith("SELECT"):
            answers = {variant: [tuple(map(str, row)) for row in sessions[variant].rows(statement_of(work.statement, work.table, kind))]
                       for variant, kind in kinds.items()}
            wrong = [variant for variant, answer in answers.items() if answer != answers["plain"]]
            if wrong:
                raise BenchError(f"{name}: {', '.join(wrong)} gives another answer than plain")
    for variant, kind in kinds.items():
        if kind.clients:
            query = f"SELECT {kind.read('a', 'text')} FROM found WHERE k = {kind.written('left(md5(7::text), 16)')}"
            plan = sessions[variant].rows(f"EXPLAIN {query}")
            if sessions[variant].rows(query) != [("holder 7",)] or not any("Index" in line for line, in plan):
                raise BenchError(f"{variant} does not find by its index what is there")


def run(options):
    kinds = variants_of(options)
    require_space(5 + options.rows * len(kinds) * 600 / 1e9)
    settings = {"max_connections": int(CLIENTS[-1]) + 20}
    peers = [Path(os.environ["BENCH_CALLER"], options.column_encrypt)] if options.column_encrypt else []
    if peers:
        settings["shared_preload_libraries"] = "tde_column, column_encrypt"
    with Server(peers=peers, **settings) as server:
        sessions = load(server, kinds, options)
        check(sessions, kinds)
        cases = [*statement_cases(sessions, kinds, source(rows_of(options)["sorted"])), *lookup_cases(server, kinds, options)]
        return report(options, measure("peers", cases, options.rounds, base="plain"), server.versions())


# ---- report ----

METHOD = """\
Tables of {rows:,} rows (numbers) and {few:,} (lines, sorted, found; COPY loads as many). gcm, the default, sha1 (Oracle's HMAC-SHA1) and nomac are
aes256 with salt, nosalt is gcm without. pgcrypto: `encrypt()`, raw AES-256 in CBC with a zero IV and no MAC; column_encrypt: its encrypted_text, the
same without a MAC, numbers and dates as text (and no ANALYZE, which takes it half a minute for 20,000 rows). Their statements are rewritten; they sort and compare decrypted values, and COPY for pgcrypto loads a temporary
table first. Lookups search a column without salt by its btree, pgcrypto by one of its ciphertexts; {seconds} s for each run of pgbench, and the
number is that of clients. The variants take turns; {rounds} rounds after one that warms up, each beside a run of plain just before."""


def targets():
    """(workload, variant) -> the ratio to plain that is wanted."""
    wanted = {(name, variant): ratio for name, work in works().items() for variant, ratio in work.wanted.items()}
    wanted[SESSIONS, "gcm"] = round(1 / 0.93, 2)
    return wanted | {(f"lookup, prepared, {clients}", "gcm"): round(1 / 0.95, 2) for clients in CLIENTS}


def report(options, samples, versions):
    rows = rows_of(options)
    method = METHOD.format(rows=rows["numbers"], few=rows["sorted"], seconds=options.seconds, rounds=options.rounds)
    result = Report("Every kind of work beside plain columns and peers", method, versions | {"repetitions": options.rounds})
    result.comparison("Time", samples, "plain", scale=1e3, unit="ms", targets=targets())
    faster = beside_peers(result, samples)
    ratios = {variant: [samples.ratio(workload, variant, "plain") if variant in samples.variants(workload) else None for workload in samples.workloads()]
              for variant in ("gcm", *PEERS) if any(variant in samples.variants(workload) for workload in samples.workloads())}
    result.bars("ratios", "Time, ratio to plain", "ratio", samples.workloads(), ratios, log=True, upright=True)
    result.status = PEER_IS_FASTER if faster else 0
    return result


def beside_peers(result, samples):
    """A table of gcm beside each peer; returns the rows on which a peer is faster."""
    rows, faster = [], []
    for workload in samples.workloads():
        for peer in PEERS:
            if peer in samples.variants(workload):
                ours, theirs = samples.ratio(workload, "gcm", "plain"), samples.ratio(workload, peer, "plain")
                faster += [workload] if theirs < ours else []
                rows.append([workload, peer, f"{theirs:.2f}", f"{ours:.2f}", f"{theirs / ours:.1f}" if theirs >= ours else f"**{theirs / ours:.2f}**"])
    result.note("## Beside the peers")
    result.table(["workload", "peer", "its ratio to plain", "ours (gcm)", "ours is faster by"], rows)
    return faster
