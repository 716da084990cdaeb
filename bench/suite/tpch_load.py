"""TPC-H's load: by COPY and by INSERTs of 4 kB, without and with keys; its curve; a sample of PGP encryption; and storage."""

import itertools
import statistics
import time

from . import BenchError
from .report import digits, verdict
from .samples import Case, Samples, measure
from .tpch_schema import PGCRYPTO_KEY, TABLES, Pgcrypto

# the study's ratios: 10 GB, loaded with INSERTs of 4 kB, without and with keys; and its storage
PUBLISHED = {("INSERT", False): 4.12, ("INSERT", True): 7.76}
PUBLISHED_STORAGE = {False: 3.8, True: 4.0}
WANTED = {("COPY", "nosalt-nomac"): 2.0, ("COPY, keys", "nosalt-nomac"): 2.5, ("COPY", "salt-mac"): 3.0,
          ("COPY", "salt-gcm"): 2.2, ("COPY, keys", "salt-gcm"): 1.7}
WANTED_STORAGE = 1.9
PGP_ROWS = 300


def workload(way, keys):
    return f"{way}, keys" if keys else way


class Loader:
    """Loads variants; keeps when each part of lineitem was in, for the curve."""

    def __init__(self, server, data):
        self.server, self.data = server, data
        self.curves = {}

    def load(self, variant, way="COPY", keys=False, tables=tuple(TABLES)):
        """Make the variant's tables anew and fill them; returns the seconds of the filling."""
        with self.server.connect(search_path=f"{variant.schema(keys)},public") as connection:
            variant.create(connection, keys, tables)
            connection.execute("CHECKPOINT")
            fill = self.copy if way == "COPY" else self.insert
            begin = time.perf_counter()
            for table in tables:
                fill(connection, variant, table, keys)
            return time.perf_counter() - begin

    def copy(self, connection, variant, table, keys):
        begin, laps = time.perf_counter(), []
        for path in self.data.files(table):
            variant.copy(connection, table, path)
            laps.append(time.perf_counter() - begin)
        if table == "lineitem":
            self.curves.setdefault((variant.name, keys), []).append(laps)

    def insert(self, connection, variant, table, _keys):
        for values in self.data.batches(table):
            connection.execute(variant.insert(table, values))

    def check(self, variants, keys):
        """Every variant has every row."""
        rows = {table: self.data.rows(table) for table in TABLES}
        with self.server.connect() as connection:
            for variant, table in itertools.product(variants, TABLES):
                found = connection.value(f"SELECT count(*) FROM {variant.schema(keys)}.{table}")
                if found != rows[table]:
                    raise BenchError(f"{variant.schema(keys)}.{table} has {found} rows instead of {rows[table]}")


def fill(loader, variants, key_choices):
    """Load every variant once, by COPY, for what reads it."""
    cases = [Case(workload("COPY", keys), variant.name, lambda variant=variant, keys=keys: loader.load(variant, keys=keys))
             for keys in key_choices for variant in variants]
    measure("tpch: loading", cases, rounds=1, warmup=0)


def measure_load(loader, variants, rounds, inserts):
    """inserts: rounds of INSERT, which takes long.  COPY is last, so that the tables are what COPY leaves."""
    samples = Samples()
    loader.data.prepare_batches()
    fill(loader, variants, (False, True))  # warms up
    loader.curves.clear()
    for way, repetitions in ("INSERT", inserts), ("COPY", rounds):
        cases = [Case(workload(way, keys), variant.name,
                      lambda variant=variant, way=way, keys=keys: loader.load(variant, way, keys))
                 for keys in (False, True) for variant in variants]
        samples.merge(measure(f"tpch: load by {way}", cases, repetitions, warmup=0, base="plain"))
        for keys in (False, True):
            loader.check(variants, keys)
    return samples


def report_load(report, loader, variants, samples):
    published = {(workload(way, keys), "pgcrypto"): f"{ratio}" for (way, keys), ratio in PUBLISHED.items()}
    report.comparison("Load", samples, "plain", published=published, targets=WANTED)
    report.note("All eight tables, each variant's time for the same files. COPY: one for each file, lineitem in ten. INSERT: "
                "statements with about 4 kB of rows, each committed (`synchronous_commit=off`). pgcrypto: COPY into a temporary "
                "table and `INSERT ... SELECT encrypt(...)`; `INSERT ... SELECT encrypt(...) FROM (VALUES ...)`. Keys: primary "
                "and foreign keys are declared before the first row. A COPY of each variant warms up, a checkpoint precedes each "
                "load. Published: 10 GB by INSERTs.")
    works = samples.workloads()
    series = {variant.name: [samples.ratio(work, variant.name, "plain") for work in works] for variant in variants[1:]}
    report.bars("load", "Load, ratio to plain", "ratio", works, series,
                marks={(workload(way, keys), "pgcrypto"): ratio for (way, keys), ratio in PUBLISHED.items()})
    report_curves(report, loader, variants)


def report_curves(report, loader, variants):
    """Seconds until so much of lineitem is loaded, medians of the rounds."""
    sizes = [path.stat().st_size / 1e6 for path in loader.data.files("lineitem")]
    loaded = [round(size, 1) for size in itertools.accumulate(sizes)]
    rows = {variant.name: [variant.name] for variant in variants}
    for keys in (False, True):
        curves = {variant.name: [statistics.median(laps) for laps in zip(*loader.curves[variant.name, keys])]
                  for variant in variants}
        report.lines("curve-keys" if keys else "curve", f"COPY of lineitem, {'with' if keys else 'without'} keys", "MB loaded",
                     "seconds", loaded, curves)
        for variant, laps in curves.items():
            rows[variant] += [digits(laps[-1]), f"{laps[-1] / laps[0] * sizes[0] / sum(sizes):.2f}"]
    report.table(["lineitem by COPY", "s", "s per MB, whole / first part", "with keys, s", "s per MB, whole / first part"],
                 rows.values())


def measure_pgp(server, rounds):
    """A few rows of lineitem from a table into another, plain and encrypted by pgcrypto in both ways."""
    expressions = {"plain": "{}::text", "pgcrypto": Pgcrypto.encryption.replace("%s", "{}::text"),
                   "pgcrypto PGP": f"pgp_sym_encrypt({{}}::text, {PGCRYPTO_KEY})"}
    with server.connect() as connection:
        cases = [Case(f"{PGP_ROWS} rows", name, lambda expression=expression: copy_few(connection, expression))
                 for name, expression in expressions.items()]
        return measure("tpch: PGP", cases, rounds, base="plain")


def copy_few(connection, expression):
    columns = ", ".join(f"{expression.format(column)} AS {column}" for column in TABLES["lineitem"])
    connection.execute(f"CREATE TEMP TABLE few AS SELECT {columns} FROM plain.lineitem LIMIT {PGP_ROWS}")
    connection.execute("DROP TABLE few")


def report_pgp(report, data, samples):
    work = samples.workloads()[0]
    report.comparison("PGP encryption of a few rows", samples, "plain", scale=1e3, unit="ms")
    values = sum(data.rows(table) * len(columns) for table, columns in TABLES.items())
    value = samples.median(work, "pgcrypto PGP") / PGP_ROWS / len(TABLES["lineitem"])
    report.note(f"`pgp_sym_encrypt()` takes {samples.ratio(work, 'pgcrypto PGP', 'pgcrypto'):.0f} times as long as raw AES (the "
                f"study gave it up at 44 times, for 1.12 GB). The {values:,} values of this scale would take "
                f"{values * value / 60:,.0f} minutes, so PGP has no part in the rest.")


def measure_storage(server, variants, key_choices):
    """(variant, keys) -> bytes of tables, and of indexes."""
    with server.connect() as connection:
        return {(variant.name, keys): connection.rows(f"""SELECT sum(pg_table_size(oid))::int8, sum(pg_indexes_size(oid))::int8
                    FROM pg_class WHERE relnamespace = '{variant.schema(keys)}'::regnamespace AND relkind = 'r'""")[0]
                for variant in variants for keys in key_choices}


def report_storage(report, sizes):
    """Ratios without keys are of the tables; with keys, of tables and indexes, as the study took them."""
    report.note("## Storage")
    rows, series = [], {}
    for (name, keys), (tables, indexes) in sizes.items():
        ratio = (tables + indexes) / sum(sizes["plain", keys])
        target = WANTED_STORAGE if (name, keys) == ("nosalt-nomac", False) else None
        published = f"{PUBLISHED_STORAGE[keys]}" if name == "pgcrypto" else ""
        of_indexes = [digits(indexes / 1e6), f"{indexes / sizes['plain', keys][1]:.2f}"] if keys else ["", ""]
        rows.append([name, "yes" if keys else "no", digits(tables / 1e6), *of_indexes, f"**{ratio:.2f}**", published,
                     *verdict(ratio, target, False)])
        if name != "plain":
            series.setdefault(name, []).append(ratio)
    report.table(["variant", "keys", "tables, MB", "indexes, MB", "indexes / plain", "all / plain", "published", "wanted", ""],
                 rows)
    groups = {"keys" if keys else "no keys": keys for _, keys in sizes}
    report.bars("storage", "Storage, ratio to plain", "ratio", list(groups), series,
                marks={(group, "pgcrypto"): PUBLISHED_STORAGE[keys] for group, keys in groups.items()})
