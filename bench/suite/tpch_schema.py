"""TPC-H's tables and queries as each variant writes them: what is encrypted, how rows get in and how values are read."""

import re
from pathlib import Path

FOLDER = Path("bench/tpch")
QUERIES = [1, 2, 3, 4, 5]
# what an application would hide: who the customers and suppliers are, and what is paid
SENSITIVE = {"c_name", "c_address", "c_phone", "c_acctbal", "s_name", "s_address", "s_phone", "s_acctbal", "ps_supplycost",
             "o_totalprice", "o_clerk", "l_extendedprice", "l_discount", "l_tax"}
# what Q1 reads of lineitem
Q1_COLUMNS = {"l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_returnflag", "l_linestatus", "l_shipdate"}
PGCRYPTO_KEY = "'0123456789abcdef0123456789abcdef'"


def read_tables():
    """Table -> {column: type}, in the order in which keys allow loading."""
    text = (FOLDER / "tables.sql").read_text()
    return {table: dict(re.findall(r"^\t(\w+) (\S+) NOT NULL", body, re.MULTILINE))
            for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\);", text, re.DOTALL)}


def read_query(number):
    """A query with braces around what must be in clear."""
    return (FOLDER / f"q{number}.sql").read_text()


TABLES = read_tables()
TYPES = {column: kind for columns in TABLES.values() for column, kind in columns.items()}


class Plain:
    """PostgreSQL's own types; and what the other variants do not do otherwise."""

    name = "plain"

    def declare(self, column):
        """The column's type."""
        return TYPES[column]

    def schema(self, keys=False):
        return self.name.replace("-", "_") + ("_keys" if keys else "")

    def create(self, connection, keys=False, tables=tuple(TABLES)):
        """Make its schema, with empty tables, anew."""
        schema = self.schema(keys)
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        connection.execute(f"CREATE SCHEMA {schema}")
        for table in tables:
            columns = ", ".join(f"{column} {self.declare(column)} NOT NULL" for column in TABLES[table])
            connection.execute(f"CREATE TABLE {table} ({columns})")
        if keys:
            connection.execute((FOLDER / "keys.sql").read_text())

    def copy(self, connection, table, path):
        """Load a file."""
        connection.copy_in(table, path, "DELIMITER '|'")

    def insert(self, table, values):
        """The statement that inserts a list of rows."""
        return f"INSERT INTO {table} VALUES {values}"

    def query(self, number):
        """TPC-H's own text."""
        return re.sub("[{}]", "", read_query(number))


class Encrypted(Plain):
    """This extension's types, in all columns or in some."""

    def __init__(self, name, spec, columns=frozenset(TYPES)):
        self.name, self.spec, self.columns = name, spec, columns

    def declare(self, column):
        base, modifiers = re.fullmatch(r"(\w+)(?:\((.*)\))?", TYPES[column]).groups()
        if column not in self.columns:
            return TYPES[column]
        modifiers = f"{modifiers},{self.spec}" if modifiers else self.spec
        return f"encrypted_{'bpchar' if base == 'char' else base}({modifiers})"


class Pgcrypto(Plain):
    """Raw AES of pgcrypto: deterministic, without a MAC; every column is bytea."""

    name = "pgcrypto"
    # %s is a text
    encryption = f"encrypt(%s::bytea, {PGCRYPTO_KEY}, 'aes')"

    def declare(self, column):
        return "bytea"

    def encrypted(self, table):
        """The list of a row's columns, encrypted."""
        return ", ".join(self.encryption % f"{column}::{kind}::text" for column, kind in TABLES[table].items())

    def copy(self, connection, table, path):
        """COPY cannot encrypt: a temporary table is between."""
        columns = ", ".join(f"{column} {kind}" for column, kind in TABLES[table].items())
        connection.execute(f"CREATE TEMP TABLE staging ({columns})")
        connection.copy_in("staging", path, "DELIMITER '|'")
        connection.execute(f"INSERT INTO {table} SELECT {self.encrypted(table)} FROM staging")
        connection.execute("DROP TABLE staging")

    def insert(self, table, values):
        return f"INSERT INTO {table} SELECT {self.encrypted(table)} FROM (VALUES {values}) v ({', '.join(TABLES[table])})"

    def query(self, number):
        """Decrypts and casts each column wherever it stands: what rewriting a query without thinking gives."""
        text = re.sub("[{}]", "", read_query(number))
        return re.sub(r"\w+", lambda word: decrypted(word[0]) if word[0] in TYPES else word[0], text)


class PgcryptoByCiphertext(Pgcrypto):
    """Queries of the same tables that decrypt only where they must; equal values have equal ciphertext."""

    name = "pgcrypto-ciphertext"

    def schema(self, keys=False):
        return Pgcrypto().schema(keys)

    def query(self, number):
        return re.sub(r"\{(.*?)\}", lambda found: self.braced(found[1]), read_query(number))

    def braced(self, text):
        """A column in clear, or a constant to compare ciphertext with."""
        if text in TYPES:
            return decrypted(text)
        return self.encryption % (text if text.startswith("'") else f"'{text}'")


def decrypted(column):
    return f"convert_from(decrypt({column}, {PGCRYPTO_KEY}, 'aes'), 'UTF8')::{TYPES[column]}"


VARIANTS = {variant.name: variant for variant in [
    Plain(),
    Encrypted("salt-gcm", "aes256,salt,gcm"),
    Encrypted("salt-mac", "aes256,salt,sha1"),
    Encrypted("nosalt-nomac", "aes256,nosalt,nomac"),
    Encrypted("sensitive", "aes256,salt,sha1", SENSITIVE),
    Pgcrypto(),
]}
Q1_VARIANTS = [Plain(), Encrypted("q1-salt-gcm", "aes256,salt,gcm", Q1_COLUMNS),
               Encrypted("q1-salt-mac", "aes256,salt,sha1", Q1_COLUMNS),
               Encrypted("q1-nosalt-nomac", "aes256,nosalt,nomac", Q1_COLUMNS)]
