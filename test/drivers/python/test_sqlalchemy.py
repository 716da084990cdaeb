"""SQLAlchemy, over three drivers: tables declared with base types read and write encrypted columns, and search them; what reflection says of them."""
import asyncio
import importlib
import re
import warnings

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import ARRAY, Column, Index, Integer, MetaData, String, Table, cast, create_engine, delete, func, inspect, insert, literal, null, select, text, update
from sqlalchemy.dialects.postgresql.base import PGDialect, ischema_names
from sqlalchemy.exc import SAWarning
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Session, registry
from sqlalchemy.pool import NullPool
from sqlalchemy.sql.expression import ClauseElement, Executable
from sqlalchemy.types import NullType

from tap import TRANSPARENT, Tap

tap = Tap("sqlalchemy")


def program(conn, driver):
    conn = conn.execution_options(isolation_level="AUTOCOMMIT")
    conn.execute(text("SET timezone = 'UTC'"))
    names = conn.execute(text("SELECT name FROM kind ORDER BY position")).scalars().all()
    plain = Table("plain", MetaData(), autoload_with=conn)
    # as an application declares it that knew the column before it was encrypted
    enc = Table("enc", MetaData(), *(Column(c.name, c.type, primary_key=c.primary_key) for c in plain.columns))
    tables = {"enc": enc, "plain": plain}

    def same(kind, what, got, expected):
        tap.same(kind, what, got, expected, driver)

    def both(kind, what, function):
        same(kind, what, lambda: function(enc), lambda: function(plain))

    def fetched(column):
        """A column in a result: the cast of a query that must do without tde_column.transparent_results."""
        return column if TRANSPARENT else cast(column, column.type)

    def one(statement):
        return conn.execute(statement).scalar_one()

    for name in names:
        column = f"c_{name}"
        value, other = (one(select(plain.c[column]).where(plain.c.id == row)) for row in (1, 2))
        both("select", name, lambda t: one(select(fetched(t.c[column])).where(t.c.id == 1)))
        both("null", name, lambda t: one(select(fetched(t.c[column])).where(t.c.id == 3)))
        both("where", name, lambda t: conn.execute(select(t.c.id).where(t.c[column] == typed(value, t.c[column]))).all())

        def write(table):
            target, result = table.c[column], fetched(table.c[column])
            conn.execute(delete(table).where(table.c.id == 10))
            return (
                one(insert(table).values({"id": 10, column: typed(value, target)}).returning(result)),
                one(update(table).values({column: typed(other, target)}).where(table.c.id == 10).returning(result)),
                one(select(cast(target, String)).where(table.c.id == 10)),
                one(update(table).values({column: null()}).where(table.c.id == 10).returning(result)),
            )

        both("write", name, write)

    integers = ARRAY(Integer)
    both("array", "cast", lambda t: one(select(cast(t.c.c_array, integers)).where(t.c.id == 1)))
    both("array", "parameter", lambda t: one(
        update(t).values(c_array=cast([5, None], integers)).where(t.c.id == 2).returning(cast(t.c.c_array, integers))))

    def many(table):
        conn.execute(delete(table).where(table.c.id > 19))
        conn.execute(insert(table), [{"id": 20, "c_text": "a", "c_int8": 1}, {"id": 21, "c_text": None, "c_int8": 2}])
        return conn.execute(select(fetched(table.c.c_text), fetched(table.c.c_int8)).where(table.c.id > 19).order_by(fetched(table.c.c_int8))).all()

    both("write", "many rows at once", lambda t: [tuple(row) for row in many(t)])
    metadata(conn, driver, tables, names)

    conn.commit()
    conn = conn.execution_options(isolation_level="READ COMMITTED")

    def stream(table):
        statement = select(*(fetched(table.c[f"c_{name}"]) for name in names)).where(table.c.id < 4).order_by(table.c.id)
        with conn.begin():
            return [tuple(row) for row in conn.execute(statement, execution_options={"yield_per": 2})]

    def changed(table):
        read = select(cast(table.c.c_text, String)).where(table.c.id == 1)
        with conn.begin() as outer:
            conn.execute(update(table).values(c_text=typed("changed", table.c.c_text), c_int4=typed(1, table.c.c_int4)).where(table.c.id == 1))
            inner = conn.begin_nested()
            conn.execute(delete(table).where(table.c.c_int4 == typed(1, table.c.c_int4)))
            inner.rollback()
            inside = one(read)
            outer.rollback()
        with conn.begin():
            return inside, one(read)

    def mapped(table):
        """The ORM: insert, update, get."""
        row = type("Row", (), {})
        registry().map_imperatively(row, table, include_properties=["id", "c_text", "c_int4", "c_numeric", "c_date"])
        source = dict(zip(("c_int4", "c_numeric", "c_date"), conn.execute(select(plain.c.c_int4, plain.c.c_numeric, plain.c.c_date)).first()))
        conn.rollback()
        with Session(conn) as session:
            new = row()
            new.id, new.c_text = 30, "x"
            for key, value in source.items():
                setattr(new, key, value)
            session.add(new)
            session.flush()
            new.c_text = "y"
            session.flush()
            session.expire_all()
            found = session.get(row, 30)
            return found.c_text, found.c_int4, found.c_numeric, found.c_date

    both("cursor", "server-side", stream)
    both("transaction", "savepoint, rollback", changed)
    if TRANSPARENT:
        both("transaction", "ORM session", mapped)
        searched(conn, driver, tables)


class Explain(Executable, ClauseElement):
    """EXPLAIN of a statement, as SQLAlchemy's documentation has it."""
    inherit_cache = False

    def __init__(self, statement):
        self.statement = statement


@compiles(Explain)
def compile_explain(element, compiler, **options):
    return "EXPLAIN " + compiler.process(element.statement, **options)


def searched(conn, driver, tables):
    """Searches find the same rows, by the gin index of that name."""
    def search(index, what, condition):
        def found(table):
            statement = select(table.c.id).where(condition(table))
            with conn.begin():
                conn.execute(text("SET LOCAL enable_seqscan = off"))
                rows = conn.execute(statement).all()
                plan = "\n".join(conn.execute(Explain(statement)).scalars())
            return sorted(tuple(row) for row in rows), re.findall(r"Bitmap Index Scan on [a-z]+_(\w+)", plan)

        rows = found(tables["plain"])[0]
        for name, table in tables.items():
            tap.same("search", f"{what}, {name}", lambda: found(table), lambda: (rows, [index]), driver)

    for name, table in tables.items():
        for index in (Index(f"{name}_part", table.c.c_text, postgresql_using="gin", postgresql_ops={"c_text": "gin_trgm_ops"}),
                      Index(f"{name}_document", table.c.c_jsonb, postgresql_using="gin"), Index(f"{name}_array", table.c.c_array, postgresql_using="gin")):
            index.create(conn)
        conn.execute(update(table).where(table.c.id == 3).values(c_text="Anna calls back"))
        conn.execute(text(f"CREATE INDEX {name}_words ON {name} USING gin (to_tsvector('english', c_text))"))
    conn.commit()
    search("part", "contains()", lambda t: t.c.c_text.contains("call"))
    search("part", "icontains()", lambda t: t.c.c_text.icontains("NNA"))
    search("part", "ilike()", lambda t: t.c.c_text.ilike("%BACK%"))
    search("part", "regexp_match()", lambda t: t.c.c_text.regexp_match("b[a-c]ck"))
    search("document", "JSONB contains()", lambda t: t.c.c_jsonb.contains({"k": [1]}))
    search("document", "JSONB has_key()", lambda t: t.c.c_jsonb.has_key("k"))
    search("array", "ARRAY contains()", lambda t: t.c.c_array.contains([1]))
    search("array", "ARRAY overlap()", lambda t: t.c.c_array.overlap([1, 7]))
    search("words", "full text", lambda t: func.to_tsvector(text("'english'"), t.c.c_text).bool_op("@@")(func.to_tsquery(text("'english'"), "call")))
    for name in ("part", "document", "array", "words"):
        conn.execute(text(f"DROP INDEX plain_{name}, enc_{name}"))
    conn.commit()


def typed(value, column):
    """A parameter of the column's type."""
    return literal(value, column.type) if TRANSPARENT else cast(literal(value, column.type), column.type)


def metadata(conn, driver, tables, names):
    """Reflection reads the catalogs, so it meets types that SQLAlchemy does not know, whatever the setting says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)
        found = inspect(conn).get_columns("enc")
        reflected = Table("enc", MetaData(), autoload_with=conn)
    expected = [column["name"] for column in inspect(conn).get_columns("plain")]
    tap.same("metadata", "reflected columns", lambda: [column["name"] for column in found], lambda: expected, driver)
    tap.same("metadata", "reflected primary key", lambda: [str(name) for name in reflected.primary_key.columns.keys()], lambda: ["id"], driver)
    unknown = {column["name"]: type(column["type"]) for column in found}
    for name in names:
        tap.same("metadata", f"reflected {name}", lambda: unknown[f"c_{name}"], lambda: NullType, driver)
    known_types(conn, driver)
    if TRANSPARENT:
        transparent_catalog(conn, driver)
        statement = select(reflected.c.c_numeric, reflected.c.c_date).where(reflected.c.c_int4 == tables["plain"].c.c_int4, reflected.c.id == 1)
        statement = statement.where(tables["plain"].c.id == 1)
        tap.same("metadata", "query of a reflected table", lambda: tuple(conn.execute(statement).one()),
                 lambda: tuple(conn.execute(select(tables["plain"].c.c_numeric, tables["plain"].c.c_date).where(tables["plain"].c.id == 1)).one()), driver)


def known_types(conn, driver):
    """With clients/sqlalchemy, for as long as this takes."""
    before = dict(ischema_names)
    import tde_column
    importlib.reload(tde_column)
    as_plain(conn, driver)
    conn.execute(text("CREATE TABLE made (encrypted_text text DEFAULT 'none', n int, d int GENERATED ALWAYS AS (n + 1) STORED)"))
    conn.execute(text("CREATE TABLE made_enc (encrypted_text encrypted_text DEFAULT 'none', n encrypted_int4, d int GENERATED ALWAYS AS (n + 1) STORED)"))
    for table in ("made", "made_enc"):
        conn.execute(text(f"CREATE INDEX {table}_index ON {table} (lower(encrypted_text) DESC, abs(n - 1), coalesce(n, 0)) WHERE encrypted_text > 'a,('"))
    for what in ("get_columns", "get_indexes"):
        expected, found = (getattr(inspect(conn), what)(table) for table in ("made", "made_enc"))
        tap.same("metadata", f"{what}: expressions", lambda: repr(found).replace("made_enc", "made"), lambda: repr(expected), driver)
    conn.execute(text("DROP TABLE made, made_enc"))
    ischema_names.clear()
    ischema_names.update(before)
    PGDialect.ischema_names = ischema_names


def transparent_catalog(conn, driver):
    """With the setting and without clients/sqlalchemy; indexes, too."""
    conn.execute(text("SET tde_column.transparent_catalog = on"))
    as_plain(conn, driver)
    for table in ("plain", "enc"):
        conn.execute(text(f"CREATE INDEX {table}_i ON {table} (c_varchar, lower(c_text)) WHERE c_bool"))
    # the columns' order and the like come with the names
    indexes = ([str(sorted(index.items())).replace("enc_i", "plain_i") for index in inspect(conn).get_indexes(table)] for table in ("plain", "enc"))
    expected = next(indexes)
    tap.same("metadata", "indexes over expressions", lambda: next(indexes), lambda: expected, driver)
    conn.execute(text("DROP INDEX plain_i, enc_i"))
    conn.execute(text("RESET tde_column.transparent_catalog"))


def as_plain(conn, driver):
    """Reflection sees the base types, and Alembic no difference."""
    conn.execute(text("CREATE TABLE precise (a time(3), b timestamptz(0), c interval, d char(3)[], e numeric)"))
    conn.execute(text("CREATE TABLE precise_enc (a encrypted_time(3), b encrypted_timestamptz(0), c encrypted_interval, "
                      "d encrypted_bpchar(3)[], e encrypted_numeric)"))
    for plain, enc in (("plain", "enc"), ("precise", "precise_enc")):
        expected, found = ([(column["name"], repr(column["type"])) for column in inspect(conn).get_columns(table)] for table in (plain, enc))
        for one, other in zip(found, expected, strict=True):
            tap.same("metadata", f"as {other[1]}", lambda: one, lambda: other, driver)
    # where the types are not on the search_path, their names are longer
    there = [repr(column["type"]) for column in inspect(conn).get_columns("precise_enc", schema="public")]
    conn.execute(text("SET search_path = pg_catalog"))
    tap.same("metadata", "without the search_path", lambda: [repr(column["type"]) for column in inspect(conn).get_columns("precise_enc", schema="public")],
             lambda: there, driver)
    conn.execute(text("RESET search_path"))
    model = MetaData()
    Table("enc", model, *(Column(c.name, c.type, primary_key=c.primary_key, nullable=c.nullable)
                          for c in Table("plain", MetaData(), autoload_with=conn).columns))
    context = MigrationContext.configure(conn, opts={"compare_type": True, "include_name": lambda name, kind, _: kind != "table" or name == "enc"})
    tap.same("metadata", "Alembic's autogenerate", lambda: compare_metadata(context, model), lambda: [], driver)
    conn.execute(text("DROP TABLE precise, precise_enc"))


async def asynchronous():
    engine = create_async_engine("postgresql+asyncpg://", poolclass=NullPool)
    async with engine.connect() as conn:
        await conn.run_sync(program, "asyncpg")
    await engine.dispose()


for name in ("psycopg", "psycopg2"):
    with create_engine(f"postgresql+{name}://", poolclass=NullPool).connect() as connection:
        program(connection, name)
asyncio.run(asynchronous())
tap.end()
