"""asyncpg sees encrypted columns as native values; it prepares every statement, and sends and fetches the binary form of what it knows."""
import asyncio
import io

import asyncpg

from tap import TRANSPARENT, Tap, param, typed_param


class Program:
    """Queries on one connection; the checks compare what they give on the encrypted and on the plain table."""

    def __init__(self, conn, loop):
        self.conn, self.loop, self.tap = conn, loop, Tap("asyncpg")
        self.names = [row[0] for row in self.wait(conn.fetch("SELECT name FROM kind ORDER BY position"))]
        self.columns = [f"c_{name}" for name in self.names]

    def wait(self, awaitable):
        return self.loop.run_until_complete(awaitable)

    def both(self, kind, what, function):
        self.tap.same(kind, what, lambda: function("enc"), lambda: function("plain"))

    def rows(self, query, *params):
        return [tuple(row) for row in self.wait(self.conn.fetch(query, *params))]

    def one(self, query, *params):
        return self.wait(self.conn.fetchval(query, *params))

    def native(self, name, row):
        return self.one(f"SELECT c_{name} FROM plain WHERE id = $1", row)

    def fetched(self, table, name):
        return f"c_{name}" if TRANSPARENT or table == "enc" else f"shown(c_{name})"

    def column(self, name):
        value, other, mark = self.native(name, 1), self.native(name, 2), param("$1", name)
        self.both("select", name, lambda t: self.one(f"SELECT {self.fetched(t, name)} FROM {t} WHERE id = 1"))
        self.both("null", name, lambda t: self.one(f"SELECT {self.fetched(t, name)} FROM {t} WHERE id = 3"))
        self.both("where", f"{name}, typed", lambda t: self.rows(f"SELECT id FROM {t} WHERE c_{name} = {typed_param('$1', name)}", value))
        if TRANSPARENT:
            self.both("where", name, lambda t: self.rows(f"SELECT id FROM {t} WHERE c_{name} = $1", value))

        def write(table):
            result = self.fetched(table, name)
            self.one(f"DELETE FROM {table} WHERE id = 10")
            return (
                self.one(f"INSERT INTO {table} (id, c_{name}) VALUES (10, {mark}) RETURNING {result}", value),
                self.one(f"UPDATE {table} SET c_{name} = {mark} WHERE id = 10 RETURNING {result}", other),
                self.one(f"SELECT c_{name}::text FROM {table} WHERE id = 10"),
                self.one(f"UPDATE {table} SET c_{name} = {mark} WHERE id = 10 RETURNING {result}", None),
            )

        self.both("write", name, write)

    def arrays(self):
        self.both("array", "cast", lambda t: self.one(f"SELECT c_array::int4[] FROM {t} WHERE id = 1"))
        self.both("array", "parameter",
                  lambda t: self.one(f"UPDATE {t} SET c_array = $1::int4[] WHERE id = 2 RETURNING c_array::int4[]", [5, None]))
        self.tap.array(lambda: self.one("SELECT c_array FROM enc WHERE id = 1"))

    def metadata(self):
        def described(table, name):
            statement = self.wait(self.conn.prepare(f"SELECT c_{name} FROM {table} WHERE c_int4 = $1 AND c_text = $2"))
            return [statement.get_attributes()[0].type.name, *(kind.name for kind in statement.get_parameters())]

        for name in self.names:
            self.tap.same("metadata", name, lambda: described("enc", name),
                          lambda: described("plain", name) if TRANSPARENT else [f"encrypted_{name}", "encrypted_int4", "encrypted_text"])

    def portal(self):
        async def found(table):
            everything = ", ".join(self.fetched(table, name) for name in self.names)
            async with self.conn.transaction():
                return [tuple(row) async for row in self.conn.cursor(f"SELECT {everything} FROM {table} WHERE id < 4 ORDER BY id", prefetch=2)]

        self.both("cursor", "server-side", lambda t: self.wait(found(t)))

    def transactions(self):
        async def changed(table):
            outer = self.conn.transaction()
            await outer.start()
            await self.conn.execute(f"UPDATE {table} SET c_int4 = {param('$1', 'int4')}, c_text = {param('$2', 'text')} WHERE id = 1", 1, "changed")
            inner = self.conn.transaction()
            await inner.start()
            await self.conn.execute(f"DELETE FROM {table} WHERE c_int4 = {param('$1', 'int4')}", 1)
            await inner.rollback()
            inside = await self.conn.fetchval(f"SELECT c_text::text FROM {table} WHERE id = 1")
            await outer.rollback()
            return inside, await self.conn.fetchval(f"SELECT c_text::text FROM {table} WHERE id = 1")

        self.both("transaction", "savepoint, rollback", lambda t: self.wait(changed(t)))

    def copies(self):
        """COPY in three formats, and of Python values, which asyncpg sends in the binary form of the columns' types."""

        def out(table, columns, what):
            found = io.BytesIO()
            self.wait(self.conn.copy_from_query(f"SELECT {', '.join(columns)} FROM {table} WHERE id < 4 ORDER BY id", output=found, format=what))
            return found.getvalue()

        def emptied(table):
            self.wait(self.conn.execute(f"DELETE FROM {table}"))

        def stored(table):
            return self.rows(f"SELECT {table}::text FROM {table} ORDER BY id")

        def taken(table, data, what):
            emptied(table)
            self.wait(self.conn.copy_to_table(table, source=io.BytesIO(data), columns=["id", *self.columns], format=what))
            return stored(table)

        def records(table):
            emptied(table)
            self.wait(self.conn.copy_records_to_table(table, records=natives, columns=["id", *self.columns]))
            return stored(table)

        natives = self.rows(f"SELECT {', '.join(['id', *self.columns])} FROM plain WHERE id < 4")
        for what in ("text", "csv", "binary"):
            self.both("copy", f"out, {what}", lambda t: out(t, self.columns, what))
            data = out("plain", ["id", *self.columns], what)
            self.both("copy", f"in, {what}", lambda t: taken(t, data, what))
        if TRANSPARENT:
            self.both("copy", "in, values", records)


def main():
    loop = asyncio.new_event_loop()
    program = Program(loop.run_until_complete(asyncpg.connect(server_settings={"timezone": "UTC"})), loop)
    for name in program.names:
        program.column(name)
    program.arrays()
    program.metadata()
    program.portal()
    program.transactions()
    program.copies()
    program.tap.end()


main()
