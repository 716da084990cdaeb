"""psycopg2 sees encrypted columns as native values; it puts parameters into the text of a query, and fetches text."""
import io

import psycopg2
from psycopg2.extras import Json

from tap import TRANSPARENT, Tap, param, typed_param

tap = Tap("psycopg2")
conn = psycopg2.connect("")
conn.autocommit = True
cursor = conn.cursor()
cursor.execute("SET timezone = 'UTC'")
cursor.execute("SELECT name FROM kind ORDER BY position")
names = [name for (name,) in cursor.fetchall()]
columns = ", ".join(f"c_{name}" for name in names)


def both(kind, what, function):
    tap.same(kind, what, lambda: function("enc"), lambda: function("plain"))


def rows(query, *params):
    cursor.execute(query, params)
    return comparable(cursor.fetchall())


def comparable(found):
    return [tuple(bytes(part) if isinstance(part, memoryview) else part for part in row) for row in found]


def one(query, *params):
    return rows(query, *params)[0][0]


def native(name, row):
    value = one(f"SELECT c_{name} FROM plain WHERE id = %s", row)
    return Json(value) if isinstance(value, dict) else value


def fetched(table, name):
    return f"c_{name}" if TRANSPARENT or table == "enc" else f"shown(c_{name})"


def column(name):
    value, other, mark = native(name, 1), native(name, 2), param("%s", name)
    both("select", name, lambda t: one(f"SELECT {fetched(t, name)} FROM {t} WHERE id = 1"))
    both("null", name, lambda t: one(f"SELECT {fetched(t, name)} FROM {t} WHERE id = 3"))
    both("where", f"{name}, typed", lambda t: rows(f"SELECT id FROM {t} WHERE c_{name} = {typed_param('%s', name)}", value))
    # a literal of the base type's, mostly without a type; good with encrypted types, whatever the setting says
    both("where", name, lambda t: rows(f"SELECT id FROM {t} WHERE c_{name} = %s", value))
    both("where", f"{name}, prepared", lambda t: prepared(t, name, value))

    def write(table):
        result = fetched(table, name)
        cursor.execute(f"DELETE FROM {table} WHERE id = 10")
        return (
            one(f"INSERT INTO {table} (id, c_{name}) VALUES (10, {mark}) RETURNING {result}", value),
            one(f"UPDATE {table} SET c_{name} = {mark} WHERE id = 10 RETURNING {result}", other),
            one(f"SELECT c_{name}::text FROM {table} WHERE id = 10"),
            one(f"UPDATE {table} SET c_{name} = {mark} WHERE id = 10 RETURNING {result}", None),
        )

    both("write", name, write)


def prepared(table, name, value):
    cursor.execute("DEALLOCATE ALL")
    cursor.execute(f"PREPARE p AS SELECT id FROM {table} WHERE c_{name} = {param('$1', name)}")
    return rows("EXECUTE p (%s)", value)


def arrays():
    both("array", "cast", lambda t: one(f"SELECT c_array::int4[] FROM {t} WHERE id = 1"))
    both("array", "parameter", lambda t: one(f"UPDATE {t} SET c_array = %s WHERE id = 2 RETURNING c_array::int4[]", [5, None]))
    tap.array(lambda: one("SELECT c_array FROM enc WHERE id = 1"))


def copies():
    """COPY in three formats: out, and what COPY of the plain table made in."""

    def out(table, columns, options):
        found = io.BytesIO()
        cursor.copy_expert(f"COPY {table} ({columns}) TO STDOUT {options}", found)
        return found.getvalue()

    def taken(table, data, options):
        cursor.execute(f"DELETE FROM {table}")
        cursor.copy_expert(f"COPY {table} (id, {columns}) FROM STDIN {options}", io.BytesIO(data))
        return rows(f"SELECT {table}::text FROM {table} ORDER BY id")

    for what in ("text", "csv", "binary"):
        one("SELECT refill()")
        options = f"(FORMAT {what})"
        both("copy", f"out, {what}", lambda t: out(t, columns, options))
        data = out("plain", f"id, {columns}", options)
        both("copy", f"in, {what}", lambda t: taken(t, data, options))


def portal():
    def found(table, select, scroll):
        conn.autocommit = False
        try:
            with conn, conn.cursor(name="portal", scrollable=scroll) as server_side:
                server_side.itersize = 2
                server_side.execute(f"SELECT {', '.join(select)} FROM {table} WHERE id < 4 ORDER BY id")
                found_rows = server_side.fetchall()
                if scroll:
                    server_side.scroll(0, mode="absolute")
                return comparable(found_rows + server_side.fetchmany(1))
        finally:
            conn.autocommit = True

    both("cursor", "server-side", lambda t: found(t, [fetched(t, name) for name in names], None))
    both("cursor", "scrolled", lambda t: found(t, [fetched(t, name) for name in names], True))


def transactions():
    def changed(table):
        conn.autocommit = False
        try:
            cursor.execute(f"UPDATE {table} SET c_int4 = %s, c_text = %s WHERE id = 1", (1, "changed"))
            cursor.execute("SAVEPOINT s")
            cursor.execute(f"DELETE FROM {table} WHERE c_int4 = %s", (1,))
            cursor.execute("ROLLBACK TO SAVEPOINT s")
            inside = one(f"SELECT c_text::text FROM {table} WHERE id = 1")
            conn.rollback()
            return inside, one(f"SELECT c_text::text FROM {table} WHERE id = 1")
        finally:
            conn.rollback()
            conn.autocommit = True

    both("transaction", "savepoint, rollback", changed)


def metadata():
    """The types by which psycopg2 chooses how to read a column."""

    def described(table, name):
        cursor.execute(f"SELECT c_{name} FROM {table} LIMIT 0")
        oid = cursor.description[0].type_code
        return one("SELECT %s::regtype::text", oid)

    for name in names:
        tap.same("metadata", name, lambda: described("enc", name),
                 lambda: described("plain", name) if TRANSPARENT else f"encrypted_{name}")


for each in names:
    column(each)
arrays()
portal()
transactions()
metadata()
copies()
tap.end()
