"""
avg(length(a)) and count(*) over a table of strings of 10 characters, as in "A performance deep dive into column encryption"
(Oracle): every cipher with and without MAC and salt.
"""

from . import pgcrypto, require_space
from .options import millions, whole
from .report import Report, digits
from .samples import Case, Progress, measure
from .server import Server

HELP = "avg(length(a)) and count(*) over a large table"

CIPHERS = ["3des168", "aes128", "aes192", "aes256"]
# the study's seconds over its plain 3 s, for 32 million rows
ORACLE = {("3des168", "mac"): 97.7, ("aes128", "mac"): 21.0, ("aes192", "mac"): 22.0, ("aes256", "mac"): 23.0,
          ("3des168", "nomac"): 79.7, ("aes128", "nomac"): 7.3, ("aes192", "nomac"): 7.7, ("aes256", "nomac"): 8.7}
MACS = ["nomac", "gcm", "mac"]
WANTED = {"nomac": 2.0, "gcm": 2.0, "mac": 4.0}


def add_options(parser):
    parser.add_argument("--rows", type=millions, default="1", metavar="MILLIONS", help="rows of each table, in millions")
    parser.add_argument("--rounds", type=whole, default=5, help="repetitions of each statement")


def variants():
    """Variant -> (cipher, MAC, modifiers)."""
    return {f"{cipher} {mac} {salt}": (cipher, mac, f"'{cipher}',{salt},{'sha1' if mac == 'mac' else mac}")
            for mac in MACS for salt in ("salt", "nosalt") for cipher in CIPHERS if (cipher, mac) != ("3des168", "gcm")}


def load(connection, rows):
    strings = f"""SELECT g AS id,
                         (SELECT string_agg(chr(97 + floor(random() * 26)::int), '') FROM generate_series(1, 10) WHERE g > 0)
                  ::varchar(10) AS a FROM generate_series(1, {rows}) g"""
    progress = Progress("loading", [1] * (len(variants()) + 3))
    connection.execute(f"CREATE TABLE plain AS {strings}")
    progress.step("plain")
    for variant, (_, _, modifiers) in variants().items():
        connection.execute(f'CREATE TABLE "{variant}" (id int, a encrypted_varchar(10,{modifiers}))')
        connection.execute(f'INSERT INTO "{variant}" SELECT id, a FROM plain')
        progress.step(variant)
    connection.execute(f"CREATE TABLE pgcrypto AS SELECT id, {pgcrypto.encrypt('a')} AS a FROM plain")
    progress.step("pgcrypto")
    for table in ["plain", *variants(), "pgcrypto"]:
        connection.execute(f'VACUUM (FREEZE, ANALYZE) "{table}"')
    connection.execute("CHECKPOINT")
    progress.step("vacuum")


def statements(table):
    value = pgcrypto.decrypt("a", "text") if table == "pgcrypto" else "a"
    return {"avg(length(a))": f'SELECT avg(length({value})) FROM "{table}"', "count(*)": f'SELECT count(*) FROM "{table}"'}


def counters(server, tables):
    """(table, statement) -> decryptions, each counted in a session of its own."""
    counts = {}
    for table in tables:
        for name, statement in statements(table).items():
            with server.connect() as connection:
                connection.execute(statement)
                counts[table, name] = connection.value("SELECT decryptions FROM tde.stats")
    return counts


def run(options):
    rows = options.rows
    tables = ["plain", *variants(), "pgcrypto"]
    require_space(rows * len(tables) * 100 / 1e9 + 5)
    with Server() as server, server.connect() as connection:
        load(connection, rows)
        cases = [Case(name, table, lambda statement=statement: connection.execute(statement))
                 for table in tables for name, statement in statements(table).items()]
        samples = measure("column-scan", cases, options.rounds, base="plain")
        counts = counters(server, tables)
        sizes = {table: (connection.value(f"""SELECT pg_relation_size('"{table}"')"""),
                         connection.value(f'SELECT pg_column_size(a) FROM "{table}" LIMIT 1')) for table in tables}
        return report(rows, options.rounds, samples, counts, sizes, server.versions())


def report(rows, rounds, samples, counts, sizes, versions):
    result = Report("A scan over one encrypted column",
                    f"`avg(length(a))` reads and decrypts each of {rows:,} values of 10 characters; `count(*)` none. The tables are "
                    f"cached, the statements take turns; {rounds} rounds after one that warms up; each ratio is to a run of plain "
                    "just before. Published: seconds in Oracle, ratio to plain, 32 million rows. pgcrypto: `decrypt()` of raw AES-256, zero IV, no MAC.",
                    versions | {"repetitions": rounds})
    specs = variants()
    work = "avg(length(a))"
    result.comparison("Time per row", samples, "plain", scale=1e9 / rows, unit="ns",
                      published={(work, name): f"{ORACLE.get((cipher, mac), '')}" for name, (cipher, mac, _) in specs.items()},
                      targets={(work, name): WANTED[mac] for name, (cipher, mac, _) in specs.items() if cipher != "3des168"})
    result.note("## Decryptions and storage")
    result.table(["variant", "decryptions of avg(length(a))", "of count(*)", "bytes of a value", "bytes per row of the table"],
                 [[table, f"{counts[table, work]:,}", counts[table, "count(*)"], value, digits(size / rows)]
                  for table, (size, value) in sizes.items()])
    groups = [f"{mac} {salt}" for mac in MACS for salt in ("salt", "nosalt")]
    result.bars("ratios", "avg(length(a)), ratio to plain", "ratio", groups,
                {cipher: [samples.ratio(work, f"{cipher} {group}", "plain") if f"{cipher} {group}" in specs else None
                          for group in groups] for cipher in CIPHERS}, log=True,
                marks={(group, cipher): ORACLE.get((cipher, group.split()[0])) for group in groups for cipher in CIPHERS})
    return result
