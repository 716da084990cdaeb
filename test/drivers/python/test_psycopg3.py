"""psycopg 3 sees encrypted columns as native values, in the text and in the binary protocol."""
import contextlib

import psycopg
from psycopg.types.json import Json, Jsonb

from tap import TRANSPARENT, Tap, param, typed_param

tap = Tap("psycopg3")
conn = psycopg.connect(autocommit=True)
kinds = conn.execute("SELECT name, send FROM kind ORDER BY position").fetchall()


def program(protocol):
    binary = protocol == "binary"
    placeholder = "%b" if binary else "%t"

    def same(kind, what, got, expected):
        tap.same(kind, what, got, expected, protocol)

    def both(kind, what, function):
        same(kind, what, lambda: function("enc"), lambda: function("plain"))

    def run(query, *params):
        return conn.cursor(binary=binary).execute(query.replace("?", placeholder), params, prepare=True)

    def one(query, *params):
        return run(query, *params).fetchone()[0]

    def native(name, row):
        """A value of the base type, as a parameter."""
        value = one(f"SELECT c_{name} FROM plain WHERE id = ?::int4", row)
        return {"json": Json, "jsonb": Jsonb}[name](value) if isinstance(value, dict) else value

    def fetched(table, name, send):
        """The expression that gives what a column is fetched as."""
        if TRANSPARENT or table == "enc":
            return f"c_{name}"
        return f"{send}(c_{name})" if binary else f"shown(c_{name})"

    for name, send in kinds:
        column = f"c_{name}"
        value, other = native(name, 1), native(name, 2)
        both("select", name, lambda t: one(f"SELECT {fetched(t, name, send)} FROM {t} WHERE id = 1"))
        both("null", name, lambda t: one(f"SELECT {fetched(t, name, send)} FROM {t} WHERE id = 3"))
        both("where", f"{name}, typed", lambda t: run(f"SELECT id FROM {t} WHERE {column} = {typed_param('?', name)}", value).fetchall())
        # a parameter of psycopg's has a type, or is untyped text: good with encrypted types, whatever the setting says
        both("where", name, lambda t: run(f"SELECT id FROM {t} WHERE {column} = ?", value).fetchall())

        def write(table):
            result = fetched(table, name, send)
            mark = param("?", name)
            run(f"DELETE FROM {table} WHERE id = 10")
            return (
                one(f"INSERT INTO {table} (id, {column}) VALUES (10, {mark}) RETURNING {result}", value),
                one(f"UPDATE {table} SET {column} = {mark} WHERE id = 10 RETURNING {result}", other),
                one(f"SELECT {column}::text FROM {table} WHERE id = 10"),
                one(f"UPDATE {table} SET {column} = {mark} WHERE id = 10 RETURNING {result}", None),
            )

        both("write", name, write)

    both("array", "cast", lambda t: one(f"SELECT c_array::int4[] FROM {t} WHERE id = 1"))
    both("array", "parameter", lambda t: one(f"UPDATE {t} SET c_array = ?::int4[] WHERE id = 2 RETURNING c_array::int4[]", [5, None]))
    if TRANSPARENT:
        both("array", "aggregate", lambda t: one(f"SELECT array_agg(c_int4 ORDER BY id) FROM {t}"))
        both("array", "subquery", lambda t: one(f"SELECT ARRAY(SELECT c_numeric FROM {t} ORDER BY id)"))
        both("array", "open parameter", lambda t: one(f"UPDATE {t} SET c_array = ? WHERE id = 2 RETURNING c_array", [5, None]))
    both("array", "element", lambda t: one(f"SELECT c_array[1]{'' if TRANSPARENT else '::int4'} FROM {t} WHERE id = 1"))
    tap.array(lambda: one("SELECT c_array FROM enc WHERE id = 1"), protocol)

    copies(protocol, same, both, native)

    def portal(table, select, scroll, hold=False):
        with contextlib.nullcontext() if hold else conn.transaction(), conn.cursor(
                name="portal", binary=binary, scrollable=scroll, withhold=hold) as cursor:
            cursor.itersize = 2
            cursor.execute(f"SELECT {select} FROM {table} WHERE id < 4 ORDER BY id")
            found = list(cursor)
            if scroll:
                cursor.scroll(0, mode="absolute")
            return found + cursor.fetchmany(1)

    everything = {t: ", ".join(fetched(t, *kind) for kind in kinds) for t in ("enc", "plain")}
    both("cursor", "server-side", lambda t: portal(t, everything[t], None))
    both("cursor", "scrolled", lambda t: portal(t, everything[t], True))
    both("cursor", "held", lambda t: portal(t, everything[t], True, True))

    def transaction(table):
        with conn.transaction() as outer:
            run(f"UPDATE {table} SET c_int4 = {param('?', 'int4')}, c_text = {param('?', 'text')} WHERE id = 1", 1, "changed")
            with conn.transaction(force_rollback=True):
                run(f"DELETE FROM {table} WHERE c_int4 = {param('?', 'int4')}", 1)
            inside = run(f"SELECT c_int4::int4, c_text::text FROM {table} WHERE id = 1").fetchall()
            raise psycopg.Rollback(outer)
        return inside, run(f"SELECT c_int4::int4, c_text::text FROM {table} WHERE id = 1").fetchall()

    both("transaction", "savepoint, rollback", transaction)


def copies(protocol, same, both, native):
    """COPY in the text or the binary format: the bytes are the base types', whatever the setting says."""
    options = "(FORMAT binary)" if protocol == "binary" else ""
    columns = ", ".join(f"c_{name}" for name, _ in kinds)
    row = [native(name, 1) for name, _ in kinds]

    def out(table):
        with conn.cursor().copy(f"COPY {table} ({columns}) TO STDOUT {options}") as copy:
            return b"".join(copy)

    def taken(table):
        conn.execute(f"DELETE FROM {table} WHERE id = 20")
        with conn.cursor().copy(f"COPY {table} (id, {columns}) FROM STDIN {options}") as copy:
            if options:
                # the binary form of bpchar is that of text; psycopg knows it by this name alone
                copy.set_types(["int4", *(name.replace("bpchar", "text") for name, _ in kinds)])
            copy.write_row([20, *row])
        return conn.execute(f"SELECT ({columns})::text FROM {table} WHERE id = 20").fetchone()

    conn.execute("SELECT refill()")
    both("copy", "out", out)
    both("copy", "in", taken)


def metadata():
    """Types of results and parameters as the server describes a prepared statement."""

    def described(table, name):
        statement = f"described {table} {name}".encode()
        conn.pgconn.prepare(statement, f"SELECT c_{name} FROM {table} WHERE c_int4 = $1 AND c_text = $2".encode())
        result = conn.pgconn.describe_prepared(statement)
        oids = result.ftype(0), result.param_type(0), result.param_type(1)
        return [conn.execute("SELECT %s::regtype::text", (oid,)).fetchone()[0] for oid in oids]

    for name, _ in kinds:
        expected = described("plain", name)
        if not TRANSPARENT:
            expected = [f"encrypted_{name}", "encrypted_int4", "encrypted_text"]
        tap.same("metadata", name, lambda: described("enc", name), lambda: expected)


conn.execute("SET timezone = 'UTC'")
program("text")
program("binary")
metadata()
tap.end()
