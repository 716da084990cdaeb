"""
Transactions a second with 1 to 8 clients: pgbench's TPC-B-like script on tables whose balances and fillers are encrypted, and
lookups of single rows by an encrypted key; beside plain tables and pgcrypto.
"""

import os
from statistics import median

from . import BenchError, pgcrypto, require_space
from .options import some_of, whole
from .report import Report
from .samples import Case, Progress, measure
from .server import Server

HELP = "TPC-B-like transactions and lookups by an encrypted key"

CLIENTS = ["1", "2", "4", "8", "200"]
MACS = {"mac": "sha1", "sha256": "sha256", "gcm": "gcm", "nomac": "nomac"}
# pgbench's own tables; the columns that are encrypted, and their types
TPCB = {
    "pgbench_branches": {"bbalance": "int4", "filler": "bpchar(88)"},
    "pgbench_tellers": {"tbalance": "int4", "filler": "bpchar(84)"},
    "pgbench_accounts": {"abalance": "int4", "filler": "bpchar(84)"},
    "pgbench_history": {"delta": "int4", "filler": "bpchar(22)"},
}
KEYS = {"pgbench_branches": "bid", "pgbench_tellers": "tid", "pgbench_accounts": "aid"}
# the statements of pgbench's built-in script tpcb-like
TRANSACTION = """\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = {abalance_sum} WHERE aid = :aid;
SELECT {abalance} FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = {tbalance_sum} WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = {bbalance_sum} WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, {delta}, CURRENT_TIMESTAMP);
END;
"""
# card number i, for SQL and for pgbench alike: scattered, unique
CARD_NUMBER = "4000000000000000 + {i} * 618033989 % 999999999989"
TPCB_VARIANTS = ["plain", "encrypted", "pgcrypto"]
CARD_VARIANTS = ["plain", "nosalt", "salt", "pgcrypto"]
MODES = ["simple", "prepared"]
LOOKUPS_CHECKED = 50


def add_options(parser):
    parser.add_argument("--scale", type=whole, default=8, help="pgbench's scale; 100,000 accounts and as many cards for each")
    parser.add_argument("--clients", type=some_of(CLIENTS), default="1,2,4,8", metavar="LIST",
                        help="numbers of clients, with commas; 200 is known, too")
    parser.add_argument("--seconds", type=whole, default=1, help="time of each run of pgbench")
    parser.add_argument("--rounds", type=whole, default=3, help="runs of each kind")
    parser.add_argument("--mac", choices=MACS, default="mac", help="of the encrypted columns: mac is HMAC-SHA1, Oracle's default")


# ---- tables: a schema for each variant, so that the same statements run on all of them ----

def load_steps(server, connection, options):
    """What is to be done before the runs: labels and actions."""
    def initialize():
        server.run_pgbench("-i", "-q", "-s", options.scale, "postgres", settings={"search_path": "plain"})

    steps = [("plain TPC-B", initialize)]
    for variant in TPCB_VARIANTS[1:]:
        steps += [(f"{variant} TPC-B", lambda variant=variant: copy_tpcb(connection, variant, MACS[options.mac]))]
    for variant in CARD_VARIANTS:
        steps += [(f"{variant} cards", lambda variant=variant: load_cards(connection, variant, options))]
    return steps


def load(server, connection, options):
    steps = load_steps(server, connection, options)
    progress = Progress("pgbench, load", [1] * len(steps))
    for schema in dict.fromkeys(TPCB_VARIANTS + CARD_VARIANTS):
        connection.execute(f"CREATE SCHEMA {schema}")
    for label, action in steps:
        action()
        progress.step(label)
    connection.execute("VACUUM (FREEZE, ANALYZE)")
    connection.execute("CHECKPOINT")


def encrypted_type(base, spec):
    """encrypted_bpchar(84,...) for bpchar(84)"""
    name, _, length = base.rstrip(")").partition("(")
    return f"encrypted_{name}({length + ',' if length else ''}{spec})"


def copy_tpcb(connection, variant, mac):
    """Copies of pgbench's tables."""
    for table, secret in TPCB.items():
        connection.execute(f"CREATE TABLE {variant}.{table} (LIKE plain.{table})")
        values = dict.fromkeys(column for column, in connection.rows(
            f"SELECT attname FROM pg_attribute WHERE attrelid = 'plain.{table}'::regclass AND attnum > 0 ORDER BY attnum"))
        for column in values:
            values[column] = column
            if column in secret and variant == "pgcrypto":
                connection.execute(f"ALTER TABLE {variant}.{table} ALTER {column} TYPE bytea USING NULL")
                # the cast to text takes a char's blanks off; pgbench and encrypted_bpchar store them
                width = secret[column].removeprefix("bpchar(").rstrip(")")
                values[column] = pgcrypto.encrypt(f"rpad({column}, {width})" if column == "filler" else column)
            elif column in secret:
                new = encrypted_type(secret[column], f"aes256,salt,{mac}")
                connection.execute(f"ALTER TABLE {variant}.{table} ALTER {column} TYPE {new}")
        connection.execute(f"INSERT INTO {variant}.{table} SELECT {', '.join(values.values())} FROM plain.{table}")
        if table in KEYS:
            connection.execute(f"ALTER TABLE {variant}.{table} ADD PRIMARY KEY ({KEYS[table]})")


def load_cards(connection, variant, options):
    """card (id, pan, holder): looked up by pan, the holder is read."""
    mac, raw = MACS[options.mac], variant == "pgcrypto"
    types = {"plain": ("text", "text"), "pgcrypto": ("bytea", "bytea")}.get(
        variant, (f"encrypted_text(aes256,{variant},{mac})", f"encrypted_text(aes256,salt,{mac})"))
    values = [f"({CARD_NUMBER.format(i='i')})::text", "'holder ' || i"]
    stored = [pgcrypto.encrypt(value) for value in values] if raw else values
    connection.execute(f"CREATE TABLE {variant}.card (id int, pan {types[0]}, holder {types[1]})")
    connection.execute(f"""INSERT INTO {variant}.card SELECT i, {', '.join(stored)}
                           FROM generate_series(1, {options.scale * 100000}::bigint) i""")
    connection.execute(f"CREATE INDEX ON {variant}.card (pan)")


# ---- scripts ----

def transaction_script(variant):
    def added(column):
        return pgcrypto.encrypt(f"{pgcrypto.decrypt(column, 'int')} + :delta") if variant == "pgcrypto" else f"{column} + :delta"

    raw = variant == "pgcrypto"
    sums = {f"{column}_sum": added(column) for column in ("abalance", "tbalance", "bbalance")}
    return TRANSACTION.format(abalance=pgcrypto.decrypt("abalance", "int") if raw else "abalance",
                              delta=pgcrypto.encrypt(":delta") if raw else ":delta", **sums)


def lookup(variant, number):
    """The lookup; number: what stands for the card's."""
    if variant == "pgcrypto":
        return f"SELECT {pgcrypto.decrypt('holder', 'text')} FROM card WHERE pan = {pgcrypto.encrypt(number)}"
    return f"SELECT holder FROM card WHERE pan = {number}"


def lookup_script(variant, mode):
    # quotes are for texts that are put in; a parameter stands without
    number = ":pan" if mode == "prepared" else "':pan'"
    return f"\\set i random(1, 100000 * :scale)\n\\set pan {CARD_NUMBER.format(i=':i')}\n{lookup(variant, number)};\n"


# ---- runs ----

def cases(server, connection, options):
    def rate(variant, script, clients, mode):
        threads = min(int(clients), os.cpu_count())
        return server.pgbench(script, "-c", clients, "-j", threads, "-T", options.seconds, "-M", mode,
                              "-D", f"scale={options.scale}", settings={"search_path": f"{variant},public"})

    def transactions(variant, clients):
        # as pgbench does before its built-in script
        connection.execute(f"VACUUM {variant}.pgbench_branches, {variant}.pgbench_tellers")
        connection.execute(f"TRUNCATE {variant}.pgbench_history")
        return rate(variant, transaction_script(variant), clients, "simple")

    def lookups(variant, clients, mode):
        return rate(variant, lookup_script(variant, mode), clients, mode)

    return [Case(f"TPC-B, {clients}", variant, lambda variant=variant, clients=clients: transactions(variant, clients))
            for clients in options.clients for variant in TPCB_VARIANTS] + \
           [Case(f"lookup {mode}, {clients}", variant,
                 lambda variant=variant, clients=clients, mode=mode: lookups(variant, clients, mode))
            for mode in MODES for clients in options.clients for variant in CARD_VARIANTS]


def warm_up(all_cases, clients):
    """A run of each script with the most clients: a whole round would take as long as one that counts."""
    chosen = [case for case in all_cases if case.workload.endswith(f" {clients[-1]}")]
    measure("pgbench, warming up", chosen, rounds=1, warmup=0)


def check_lookups(connection, options):
    """Each variant finds what was put in, by its index, in both modes."""
    total = options.scale * 100000
    for variant in CARD_VARIANTS:
        connection.execute(f"SET search_path = {variant}, public")
        connection.execute(f"PREPARE lookup AS {lookup(variant, '$1')}")
        for i in range(1, total + 1, total // LOOKUPS_CHECKED):
            number = f"'{card_number(i)}'"
            for query in (lookup(variant, number), f"EXECUTE lookup({number})"):
                if connection.rows(query) != [(f"holder {i}",)]:
                    raise BenchError(f"the variant {variant} does not find card {i}")
                if not any("Index" in line for line, in connection.rows(f"EXPLAIN {query}")):
                    raise BenchError(f"the lookup of the variant {variant} does not use the index")
        connection.execute("DEALLOCATE lookup")


def card_number(i):
    return 4000000000000000 + i * 618033989 % 999999999989


def check_sums(connection):
    """TPC-B's condition: the accounts, the tellers and the branches have had the same sums."""
    for variant in TPCB_VARIANTS:
        connection.execute(f"SET search_path = {variant}, public")
        sums = []
        for table, column in (("accounts", "abalance"), ("tellers", "tbalance"), ("branches", "bbalance")):
            value = pgcrypto.decrypt(column, "int") if variant == "pgcrypto" else column
            sums.append(connection.value(f"SELECT sum({value}) FROM pgbench_{table}"))
        if len(set(sums)) > 1 or connection.value("SELECT count(*) FROM pgbench_history") == 0:
            raise BenchError(f"the balances of the variant {variant} do not agree: {sums}")


def run(options):
    # a branch's rows and cards, in three and four forms, and what changing them adds; WAL
    require_space(5 + options.scale * 0.3 + options.seconds * options.rounds * len(options.clients) * 0.02)
    with Server(max_connections=int(CLIENTS[-1]) + 20) as server, server.connect() as connection:
        load(server, connection, options)
        check_lookups(connection, options)
        runs = cases(server, connection, options)
        warm_up(runs, options.clients)
        samples = measure("pgbench", runs, options.rounds, warmup=0, unit="tps")
        check_sums(connection)
        return report(options, samples, server.versions())


# ---- report ----

METHOD = """\
Transactions a second, runs of {seconds} s that take turns; {rounds} rounds after a run of each variant that warms up. WAL is
not waited for (synchronous_commit off), which would hide the cost.

TPC-B: pgbench's tables at scale {scale} and its built-in script, -M simple; encrypted are the balances, the delta and the
fillers (encrypted: aes256, salt, {mac}; pgcrypto: as text in raw AES-256, zero IV, no MAC, the statements rewritten). At the end the
sums of accounts, tellers and branches agree in each variant.

lookup: `SELECT holder FROM card WHERE pan = ...` among {cards:,} cards, pan and holder encrypted, a btree on pan. nosalt, salt:
pan encrypted_text(aes256,...,{mac}), holder always salted; pgcrypto: a btree on the deterministic ciphertext. The number of a
workload is that of the clients."""
PEERS = """\
Nothing is published for these. Measured apart in PostgreSQL 15, one UPDATE of two encrypted columns by id and a SELECT of them,
2 clients, synchronous_commit off, tps to plain: pgcrypto raw 0.68 and 0.89, column_encrypt 4.0 0.86 and 0.95 (medians of two
series). Time of 5,000 lookups by index in PL/pgSQL to plain: pgcrypto raw 1.18, column_encrypt with a hash index 1.57."""


def report(options, samples, versions):
    method = METHOD.format(seconds=options.seconds, rounds=options.rounds, scale=options.scale, mac=MACS[options.mac],
                           cards=options.scale * 100000)
    result = Report("pgbench: TPC-B-like transactions, and lookups by an encrypted key", method,
                    versions | {"repetitions": options.rounds})
    result.comparison("Transactions a second", samples, "plain", higher_is_better=True)
    beside_pgcrypto(result, samples)
    for title, variants in {"TPC-B": TPCB_VARIANTS, **{f"lookup {mode}": CARD_VARIANTS for mode in MODES}}.items():
        charts(result, samples, title, variants, options.clients)
    result.note(PEERS)
    return result


def beside_pgcrypto(result, samples):
    rows = []
    for workload in samples.workloads():
        for variant in samples.variants(workload):
            if variant not in ("plain", "pgcrypto"):
                ratios = samples.ratios(workload, variant, "pgcrypto")
                rows.append([workload, variant, f"**{samples.ratio(workload, variant, 'pgcrypto'):.2f}**",
                             f"{min(ratios):.2f} .. {max(ratios):.2f}"])
    result.note("## Beside pgcrypto")
    result.table(["workload", "variant", "ratio of tps to pgcrypto", "min .. max"], rows)


def charts(result, samples, title, variants, clients):
    rates = {variant: [samples.of(f"{title}, {number}", variant) for number in clients] for variant in variants}
    ratios = {variant: [samples.ratios(f"{title}, {number}", variant, "plain") for number in clients] for variant in variants}
    for name, label, series in (("tps", "transactions a second", rates), ("ratio", "ratio of tps to plain", ratios)):
        result.bars(f"{title.lower().replace(' ', '-')}-{name}", f"{title}: {label}, by clients", label, clients,
                    {variant: [median(figures) for figures in runs] for variant, runs in series.items()},
                    spread={(number, variant): (min(figures), max(figures))
                            for variant, runs in series.items() for number, figures in zip(clients, runs)})
