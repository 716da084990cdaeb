"""
Searches by gin indexes: parts of strings, JSON containment, full text; what builds, sizes and INSERT take, what verifying a table takes, and
lookups in unordered columns; encrypted columns beside plain ones.
"""

from time import perf_counter

from . import BenchError, require_space
from .options import millions, whole
from .report import Report
from .samples import Case, Progress, Samples, measure
from .server import Server

HELP = "searches by gin indexes, their size, builds and INSERT; lookups in unordered columns"
SMALL = ["--rows", "0.05"]

# name -> column, class, and a condition that finds few rows of a million
SEARCHES = {
    "LIKE '%abcd12%'": ("body", "gin_trgm_ops", "body LIKE '%abcd12%'"),
    "doc @> '{\"k\": 5}'": ("doc", "jsonb_ops", """doc @> '{"k": 5}'"""),
    "words @@ 'w5 & x7'": ("words", "tsvector_ops", "words @@ 'w5 & x7'"),
}
TYPES = {"body": "text", "doc": "jsonb", "words": "tsvector"}
VALUES = """'Name ' || md5(g::text) || ' of ' || g % 1000,
    jsonb_build_object('k', g % 1000, 'name', 'n' || g % 50000, 'tags', jsonb_build_array('t' || g % 100, g % 2 = 0)),
    to_tsvector('simple', format('w%s x%s y%s %s', g % 1000, g % 77, g % 10, left(md5(g::text), 8)))"""
TABLES = {"plain": False, "blind": True, "scan": True}
LOOKUPS = ["plain", "ordered", "unordered"]
WANTED_SEARCH, WANTED_BUILD, WANTED_SIZE, WANTED_INSERT, WANTED_LOOKUP, WANTED_VERIFY = 1.5, 1.6, 1.1, 1.3, 1.05, 0.6
REPEATED = 20  # what takes milliseconds
LOOKED_UP = 3000  # transactions of each variant in a round


def add_options(parser):
    parser.add_argument("--rows", type=millions, default="1", metavar="MILLIONS",
                        help="rows of each table, in millions; builds take a fifth of them, INSERT a fiftieth")
    parser.add_argument("--rounds", type=whole, default=5, help="repetitions of each statement")


# ---- tables ----

def create(connection, table, encrypted, rows):
    columns = ", ".join(f"{name} {'encrypted_' if encrypted else ''}{base}" for name, base in TYPES.items())
    connection.execute(f"CREATE TABLE {table} (id int, {columns})")
    connection.execute(f"INSERT INTO {table} SELECT g, {VALUES} FROM generate_series(1, {rows}) g")


def create_indexes(connection, table):
    for column, opclass, _ in SEARCHES.values():
        connection.execute(f"CREATE INDEX {table}_{column} ON {table} USING gin ({column} {opclass})")


def load(connection, rows):
    steps = [(table, encrypted, rows) for table, encrypted in TABLES.items()]
    steps += [(f"part_{table}", TABLES[table], rows // 5) for table in ("plain", "blind")]
    steps += [(f"new_{table}", TABLES[table], 0) for table in ("plain", "blind")]
    progress = Progress("search, load", [count + 1 for _, _, count in steps] + [2 * rows])
    connection.execute("CREATE EXTENSION pg_trgm")
    connection.execute("SELECT tde_create_gin_class('gin_trgm_ops'), tde_create_type('tsvector')")
    for table, encrypted, count in steps:
        create(connection, table, encrypted, count)
        if table in ("plain", "blind") or not count:
            create_indexes(connection, table)
        progress.step(table)
    for variant in LOOKUPS:
        column = "text" if variant == "plain" else f"encrypted_text({variant})"
        connection.execute(f"CREATE TABLE found_{variant} (id int, a {column})")
        connection.execute(f"INSERT INTO found_{variant} SELECT g, left(md5(g::text), 10) FROM generate_series(1, {rows}) g")
        connection.execute(f"CREATE INDEX ON found_{variant} (a)")
    connection.execute("VACUUM (FREEZE, ANALYZE)")
    connection.execute("CHECKPOINT")
    progress.step("lookups")


def count_of(table, condition):
    return f"SELECT count(*) FROM {table} WHERE {condition}"


def check(connection):
    """All find the same rows, and by what their name says."""
    for name, (_, _, condition) in SEARCHES.items():
        found = {table: connection.value(count_of(table, condition)) for table in TABLES}
        if len(set(found.values())) > 1:
            raise BenchError(f"{name} does not find the same rows everywhere: {found}")
        for table in TABLES:
            indexed = any("Bitmap Index Scan" in line for line, in connection.rows(f"EXPLAIN {count_of(table, condition)}"))
            if indexed != (table != "scan"):
                raise BenchError(f"{name} in the table {table} is {'' if indexed else 'not '}by an index")


# ---- runs ----

def search_cases(connection):
    def repeat(statement, times):
        connection.execute("; ".join([statement] * times))

    for name, (_, _, condition) in SEARCHES.items():
        for table in TABLES:
            times = 1 if table == "scan" else REPEATED
            yield name, table, lambda statement=count_of(table, condition), times=times: repeat(statement, times), times


def timed(action, times):
    """What one of so many repetitions takes."""
    begin = perf_counter()
    action()
    return (perf_counter() - begin) / times


def write_cases(connection, rows):
    """Builds, each after the index of the one before is gone, and INSERT into empty tables with all three indexes."""
    def build(table, column, opclass):
        connection.execute("DROP INDEX IF EXISTS made")
        return timed(lambda: connection.execute(f"CREATE INDEX made ON part_{table} USING gin ({column} {opclass})"), 1)

    def insert(table):
        connection.execute(f"TRUNCATE new_{table}; CHECKPOINT")
        return timed(lambda: connection.execute(f"INSERT INTO new_{table} SELECT g, {VALUES} FROM generate_series(1, {rows // 50}) g"), 1)

    return [Case(f"CREATE INDEX, {column}", table, lambda table=table, column=column, opclass=opclass: build(table, column, opclass))
            for column, opclass, _ in SEARCHES.values() for table in ("plain", "blind")] + \
           [Case("INSERT, three indexes", table, lambda table=table: insert(table)) for table in ("plain", "blind")]


def verify_cases(connection):
    columns = ", ".join(f"count({name}::{base})" for name, base in TYPES.items())
    statements = {"decrypting scan": f"SELECT {columns} FROM scan", "verified": "SELECT count(*) FROM tde_verify_table('scan')",
                  "verified, three gin indexes": "SELECT count(*) FROM tde_verify_table('blind')"}
    return [Case("whole table", name, lambda statement=statement: connection.execute(statement)) for name, statement in statements.items()]


def lookups(server, rows, rounds):
    """Of all variants from one pgbench, so that whatever else the machine does hits them alike."""
    samples = Samples(base="ordered")
    scripts = {variant: f"\\set i random(1, {rows})\nSELECT id FROM found_{variant} WHERE a = left(md5(:i::text), 10);\n" for variant in LOOKUPS}
    progress = Progress("search, lookups", [1] * (rounds + 1))
    for turn in range(rounds + 1):
        seconds = server.pgbench_mix(scripts, "-c", 1, "-t", LOOKED_UP * len(LOOKUPS), "-M", "prepared")
        for variant in LOOKUPS if turn > 0 else []:
            samples.add("lookup by equality", variant, seconds[variant])
        progress.step("lookups")
    return samples


def sizes(connection):
    samples = Samples("MB")
    for column in TYPES:
        for table in ("plain", "blind"):
            samples.add(f"index of {column}", table, connection.value(f"SELECT pg_relation_size('{table}_{column}')") / 1e6)
    return samples


def run(options):
    rows, rounds = options.rows, options.rounds
    require_space(rows * 4000 / 1e9 + 5)
    with Server() as server, server.connect() as connection:
        load(connection, rows)
        check(connection)
        cases = [Case(name, table, lambda action=action, times=times: timed(action, times))
                 for name, table, action, times in search_cases(connection)]
        parts = {
            "searches": measure("search", cases, rounds, base="plain"),
            "writes": measure("search, writes", write_cases(connection, rows), rounds, base="plain"),
            "verified": measure("search, verify", verify_cases(connection), rounds, base="decrypting scan"),
            "lookups": lookups(server, rows, rounds),
            "sizes": sizes(connection),
        }
        return report(options, parts, server.versions())


# ---- report ----

METHOD = """\
Tables of {rows:,} rows: body, a text of 42 characters; doc, a jsonb of three keys; words, a tsvector of four lexemes. blind: the columns are
encrypted (aes256, salt, gcm), with the same three indexes as plain; scan: without indexes. The tables are cached, the statements take turns;
{rounds} rounds after one that warms up. Ratios are to a run of the first variant just before."""


def report(options, parts, versions):
    rows = options.rows
    result = Report("Searches by gin indexes, and unordered columns", METHOD.format(rows=rows, rounds=options.rounds),
                    versions | {"repetitions": options.rounds})

    def goal(part, variant, target):
        return {(workload, variant): target for workload in parts[part].workloads()}

    result.comparison("Searches", parts["searches"], "plain", scale=1e3, unit="ms", targets=goal("searches", "blind", WANTED_SEARCH))
    result.comparison("Size of the indexes", parts["sizes"], "plain", targets=goal("sizes", "blind", WANTED_SIZE))
    targets = goal("writes", "blind", WANTED_BUILD) | {("INSERT, three indexes", "blind"): WANTED_INSERT}
    result.note(f"Builds are of {rows // 5:,} rows, INSERT writes {rows // 50:,} into an empty table.")
    result.comparison("Builds and INSERT", parts["writes"], "plain", scale=1e3, unit="ms", targets=targets)
    result.comparison("Lookups", parts["lookups"], "ordered", scale=1e6, unit="us", targets=goal("lookups", "unordered", WANTED_LOOKUP))
    result.note(f"`tde_verify_table()` beside a scan that decrypts the same three columns: wanted is {WANTED_VERIFY:.0%} of its speed.")
    result.comparison("Verifying", parts["verified"], "decrypting scan", scale=1e9 / rows, unit="ns per row",
                      targets=goal("verified", "verified", round(1 / WANTED_VERIFY, 2)))
    charted = {name: part for name, part in parts.items() if name in ("searches", "writes")}
    groups = {workload: samples.ratios(workload, "blind", "plain") for samples in charted.values() for workload in samples.workloads()}
    result.bars("ratios", "blind gin indexes, ratio to plain ones", "ratio", list(groups),
                {"blind": [sorted(ratios)[len(ratios) // 2] for ratios in groups.values()]},
                spread={(workload, "blind"): (min(ratios), max(ratios)) for workload, ratios in groups.items()})
    return result
