"""The part of the experiment "layouts" that runs in PostgreSQL: 350 sensitive bytes as one encrypted value and as seven."""

import time
from typing import NamedTuple

from . import BenchError
from .claims import extras, flat, proportional
from .samples import Case, Progress, Samples, measure
from .server import Server

FORMS = ["one value", "seven columns"]
COLUMNS = [f"c{number}" for number in range(1, 8)]
COLUMN_BYTES = 50
SIZES = [COLUMN_BYTES * count for count in range(1, len(COLUMNS) + 1)]
TUPLE_BYTES = SIZES[-1]
# values that are stored out of line are so many times as large, and fewer by as much
DOCUMENT = 100

PERCENTAGES = [30, 60, 100]
ATTRIBUTES = ["sensitive", "plain"]
MACS = {"nomac": "nomac", "mac": "sha1"}
VARIANTS = ["plain", *MACS]


class Columns(NamedTuple):
    """What was measured: ns per row, ns per large value; and by table: decryptions per row (of the least projection, of the whole
    tuple) and bytes per row."""

    queries: Samples
    slices: Samples
    facts: dict
    versions: dict


def run(rows, rounds, cipher):
    documents = rows // DOCUMENT + 1
    with Server() as server, server.connect() as connection:
        load(connection, rows, documents, cipher)
        queries = [case for form in FORMS for case in cases(connection, statements_of(form), rows)]
        slices = cases(connection, slice_statements, documents)
        return Columns(measure("layouts, columns", queries, rounds, unit="ns", base="plain"),
                       measure("layouts, slices", slices, rounds, unit="ns", base="plain"),
                       {(form, variant): facts(server, form, variant, rows) for form in FORMS for variant in VARIANTS},
                       server.versions())


def bytes_of(size, seed):
    """An expression for bytes that look random."""
    blocks = f"SELECT string_agg(sha512(({seed} || '.' || i)::bytea), '') FROM generate_series(1, {size // 64 + 1}) i"
    return f"substr(({blocks}), 1, {size})"


def load(connection, rows, documents, cipher):
    progress = Progress("layouts, loading tables", [1] * 3 * len(VARIANTS))
    parts = ", ".join(f"substr(s, {1 + size - COLUMN_BYTES}, {COLUMN_BYTES}) AS {name}" for name, size in zip(COLUMNS, SIZES))
    connection.execute(f"""CREATE TABLE "one value plain" AS
                           SELECT id, percentile AS plain, percentile AS sensitive, {bytes_of(138, "id || 'filler'")} AS filler,
                                  {bytes_of(TUPLE_BYTES, 'id')} AS s
                           FROM (SELECT id, (hashint4(id) & 2147483647) % 100 AS percentile
                                 FROM generate_series(1, {rows}) id) numbers""")
    progress.step("one value plain")
    connection.execute(f"""CREATE TABLE "seven columns plain" AS
                           SELECT id, plain, sensitive, filler, {parts} FROM "one value plain" """)
    progress.step("seven columns plain")
    connection.execute('CREATE TABLE "document plain" (id int, s bytea)')
    # never compressed, so that slices of it can be read
    connection.execute('ALTER TABLE "document plain" ALTER s SET STORAGE EXTERNAL')
    connection.execute(f"""INSERT INTO "document plain"
                           SELECT g, {bytes_of(TUPLE_BYTES * DOCUMENT, 'g')} FROM generate_series(1, {documents}) g""")
    progress.step("document plain")
    for variant, mac in MACS.items():
        load_encrypted(connection, variant, f"{cipher},salt,{mac}", progress)
    for table in [*FORMS, "document"]:
        for variant in VARIANTS:
            connection.execute(f'VACUUM (FREEZE, ANALYZE) "{table} {variant}"')
    connection.execute("CHECKPOINT")


def load_encrypted(connection, variant, modifiers, progress):
    head = f"id int, plain int, sensitive encrypted_int4({modifiers}), filler bytea"
    definitions = {"one value": f"{head}, s encrypted_bytea({modifiers})",
                   "seven columns": ", ".join([head, *(f"{name} encrypted_bytea({modifiers})" for name in COLUMNS)]),
                   "document": f"id int, s encrypted_bytea({modifiers})"}
    for table, definition in definitions.items():
        connection.execute(f'CREATE TABLE "{table} {variant}" ({definition})')
        connection.execute(f'INSERT INTO "{table} {variant}" SELECT * FROM "{table} plain"')
        progress.step(f"{table} {variant}")


def last_byte(form, size):
    """An expression that needs so many of the sensitive bytes, up to the last."""
    if form == "seven columns":
        return " + ".join(f"get_byte({name}, {COLUMN_BYTES - 1})" for name in COLUMNS[:size // COLUMN_BYTES])
    return f"get_byte(substr(s, 1, {size}), {size - 1})"


def projection(size, form):
    return f"projection of {size} bytes, {form}"


def selection(percentage, attribute, form):
    return f"selection of {percentage} % by a {attribute} attribute, {form}"


def slice_of(size):
    return f"projection of {size:,} bytes of {TUPLE_BYTES * DOCUMENT:,}"


def statements_of(form):
    """A function: variant -> workload -> statement."""
    def statements(variant):
        projections = {projection(size, form): f'SELECT sum({last_byte(form, size)}) FROM "{form} {variant}"' for size in SIZES}
        everything = projections[projection(TUPLE_BYTES, form)]
        return projections | {selection(percentage, attribute, form): f"{everything} WHERE {attribute} < {percentage}"
                              for attribute in ATTRIBUTES for percentage in PERCENTAGES}
    return statements


def slice_statements(variant):
    sizes = [size * DOCUMENT for size in SIZES]
    return {slice_of(size): f'SELECT sum({last_byte("document", size)}) FROM "document {variant}"' for size in sizes}


def cases(connection, statements, rows):
    """A case of each workload on each variant."""
    right = {workload: connection.value(statement) for workload, statement in statements("plain").items()}
    return [Case(workload, variant, checked(connection, statements(variant)[workload], right[workload], rows))
            for workload in right for variant in VARIANTS]


def checked(connection, statement, right, rows):
    """An action for a case: ns per row; it fails if the answer is not that of the plain table."""
    def action():
        begin = time.perf_counter()
        answer = connection.value(statement)
        took = time.perf_counter() - begin
        if answer != right:
            raise BenchError(f"another answer than from the plain table ({answer}, not {right}): {statement}")
        return took * 1e9 / rows
    return action


def facts(server, form, variant, rows):
    result = []
    for size in (SIZES[0], TUPLE_BYTES):
        with server.connect() as connection:
            connection.execute(statements_of(form)(variant)[projection(size, form)])
            result.append(round(connection.value("SELECT decryptions FROM tde.stats") / rows, 2))
    with server.connect() as connection:
        return [*result, round(connection.value(f"""SELECT pg_relation_size('"{form} {variant}"')""") / rows)]


def report(result, columns):
    result.note(f"""## Encrypted columns in PostgreSQL

The same rows, cached, their sensitive bytes as one `encrypted_bytea` of {TUPLE_BYTES} bytes or as seven of {COLUMN_BYTES}:
`salt`, in counter mode, without a MAC (nomac) and with HMAC-SHA1 (mac). A projection sums the last byte of what it reads
(`get_byte(substr(s, 1, n), n - 1)`, or `get_byte()` of each column); a selection, that of the whole tuple. The answers are
compared with the plain table's. Values of {TUPLE_BYTES * DOCUMENT:,} bytes, stored out of line, show slices: without a MAC, only
the blocks that are asked for are fetched and decrypted.""")
    tables = {"Columns: time per row": columns.queries, "Slices of large values: time per value": columns.slices}
    for title, samples in tables.items():
        result.comparison(title, samples, "plain")
    result.note("## Columns: the same claims")
    result.table(["claim", "measured, of what a query takes more than on the plain table", ""], claims(columns))
    result.note("## Columns: decryptions and storage")
    result.table(["table", f"decryptions per row for {SIZES[0]} bytes", f"for {TUPLE_BYTES}", "bytes per row"],
                 [[f"{form}, {variant}", *figures] for (form, variant), figures in columns.facts.items()])
    charts(result, columns)


def claims(columns):
    rows = []
    for variant in MACS:
        one, seven = (extras(columns.queries, [projection(size, form) for size in SIZES], variant) for form in FORMS)
        rows.append(flat(f"one value, {variant}: any part of it takes the same, as on a mini page", one))
        rows.append(proportional(f"seven columns, {variant}: in proportion to those read, as on a page in counter mode",
                                 SIZES, seven))
    sizes = [size * DOCUMENT for size in SIZES]
    slices = {variant: extras(columns.slices, map(slice_of, sizes), variant) for variant in MACS}
    return [*rows, proportional("large values, nomac: in proportion to the slice, as by Algorithm 3", sizes, slices["nomac"]),
            flat("large values, mac: any slice takes the same, as all of the value is authenticated", slices["mac"])]


def charts(result, columns):
    kinds = [(form, variant) for form in FORMS for variant in MACS]
    result.lines("columns_projection", "Columns: ratio to plain by bytes read", "bytes", "ratio", SIZES,
                 {f"{form}, {variant}": [columns.queries.ratio(projection(size, form), variant, "plain") for size in SIZES]
                  for form, variant in kinds})
    conditions = [(percentage, attribute) for attribute in ATTRIBUTES for percentage in PERCENTAGES]
    result.bars("columns_selection", "Columns: selection, ratio to plain", "ratio",
                [f"{percentage} % by a\n{attribute} attribute" for percentage, attribute in conditions],
                {f"{form}, {variant}": [columns.queries.ratio(selection(*condition, form), variant, "plain")
                                        for condition in conditions]
                 for form, variant in kinds})
    sizes = [size * DOCUMENT for size in SIZES]
    result.lines("slices", f"Slices of {TUPLE_BYTES * DOCUMENT:,} bytes: time by length", "bytes of the slice", "ns per value",
                 sizes, {variant: [columns.slices.median(slice_of(size), variant) for size in sizes]
                         for variant in VARIANTS})
