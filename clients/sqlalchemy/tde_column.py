"""Encrypted columns in SQLAlchemy's reflection, and so in Alembic's autogenerate, as columns of their base types: import it once.

SQLAlchemy reads the types of columns from the catalogs, which name the encrypted ones: encrypted_varchar(50,aes256,salt,gcm).  It reads
what indexes and generated columns compute, which they show as it is stored: tde_computed(NULL::encrypted_text(...), 'lower(text)', name).
"""
import re

from sqlalchemy import text
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql.base import ischema_names


def _own(modifiers):
    """The modifiers of the base type, which are numbers: not those of the encryption."""
    return [int(modifier) for modifier in modifiers if str(modifier).isdigit()]


def _plain(kind, *fixed):
    def reflected(*modifiers, **collation):
        return kind(*fixed, *_own(modifiers), **collation)
    return reflected


def _moment(kind, **fixed):
    def reflected(*modifiers, **collation):
        return kind(precision=next(iter(_own(modifiers)), None), **fixed)
    return reflected


class _Names(dict):
    """Where the extension's schema is not on the search_path, the names of its types begin with it."""

    def get(self, name, default=None):
        own = name.rpartition(".")[2]
        return super().get(own if own.startswith("encrypted_") else name, default)


ischema_names.update({
    "encrypted_text": _plain(postgresql.TEXT),
    "encrypted_varchar": _plain(postgresql.VARCHAR),
    "encrypted_bpchar": _plain(postgresql.CHAR),
    "encrypted_int2": _plain(postgresql.SMALLINT),
    "encrypted_int4": _plain(postgresql.INTEGER),
    "encrypted_int8": _plain(postgresql.BIGINT),
    "encrypted_numeric": _plain(postgresql.NUMERIC),
    "encrypted_float4": _plain(postgresql.REAL),
    "encrypted_float8": _plain(postgresql.DOUBLE_PRECISION, 53),
    "encrypted_bool": _plain(postgresql.BOOLEAN),
    "encrypted_date": _plain(postgresql.DATE),
    "encrypted_time": _moment(postgresql.TIME, timezone=False),
    "encrypted_timetz": _moment(postgresql.TIME, timezone=True),
    "encrypted_timestamp": _moment(postgresql.TIMESTAMP, timezone=False),
    "encrypted_timestamptz": _moment(postgresql.TIMESTAMP, timezone=True),
    "encrypted_interval": _moment(postgresql.INTERVAL),
    "encrypted_bytea": _plain(postgresql.BYTEA),
    "encrypted_uuid": _plain(postgresql.UUID),
    "encrypted_json": _plain(postgresql.JSON),
    "encrypted_jsonb": _plain(postgresql.JSONB),
    "encrypted_inet": _plain(postgresql.INET),
})

# What PostgreSQL calls the base types.
_BASE_TYPES = {
    "varchar": "character varying", "bpchar": "character", "int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real",
    "float8": "double precision", "bool": "boolean", "time": "time without time zone", "timetz": "time with time zone",
    "timestamp": "timestamp without time zone", "timestamptz": "timestamp with time zone",
}
_ENCRYPTED = re.compile(r"(?<=::)(?:\w+\.)?encrypted_(" + "|".join(name.partition("_")[2] for name in ischema_names if name.startswith("encrypted_"))
                        + r")\b(?:\([^()]*\))?")
_TOKENS = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|[(),]|[^'"(),]+""")


def _base_type(encrypted):
    return _BASE_TYPES.get(encrypted[1], encrypted[1])


def _bare(expression):
    """Without parentheses around it."""
    depth, tokens = 0, _TOKENS.findall(expression)
    for place, token in enumerate(tokens, 1):
        depth += (token == "(") - (token == ")")
        if depth == 0:
            return "".join(tokens[1:-1]) if token == ")" and place == len(tokens) else expression
    return expression


def _written(result, function, *arguments, operators):
    """What tde_computed() of these arguments stands for."""
    signature = function.strip().split("'")[1]
    arguments = [argument.strip() for argument in arguments]
    if signature == "-" and len(arguments) == 2:  # an alternative of COALESCE
        return arguments[0]
    if signature == "-":
        return f"({arguments[0]})::{_ENCRYPTED.sub(_base_type, result).partition('::')[2]}"
    if signature not in operators:
        return f"{signature.partition('(')[0]}({', '.join(map(_bare, arguments))})"
    return f"({f' {operators[signature]} '.join(arguments)})" if len(arguments) == 2 else f"({operators[signature]} {arguments[0]})"


def _arguments(tokens, operators):
    """The arguments of a call, from behind its parenthesis to the end."""
    found = [""]
    for token in tokens:
        if token == ")":
            break
        if token == ",":
            found.append("")
        elif token != "(":
            found[-1] += token
        else:
            inner = _arguments(tokens, operators)
            before, call, _ = found[-1].rpartition("tde_internal.tde_computed")
            found[-1] = before + _written(*inner, operators=operators) if call else f"{found[-1]}({','.join(inner)})"
    return found


def _as_declared(expression, operators):
    """An expression of the catalogs as somebody wrote it."""
    if not isinstance(expression, str) or not _ENCRYPTED.search(expression):
        return expression
    return _ENCRYPTED.sub(_base_type, ",".join(_arguments(iter(_TOKENS.findall(expression)), operators)))


def _change_column(column, declared):
    column["default"] = declared(column["default"])
    if "computed" in column:
        column["computed"]["sqltext"] = declared(column["computed"]["sqltext"])


def _change_index(index, declared):
    options = index.get("dialect_options", {})
    if "expressions" in index:
        index["expressions"] = [declared(expression) for expression in index["expressions"]]
    for of, key in ((index, "column_sorting"), (options, "postgresql_ops")):
        if key in of:
            of[key] = {declared(name): entry for name, entry in of[key].items()}
    if "postgresql_where" in options:
        options["postgresql_where"] = declared(options["postgresql_where"])


def _reflecting(method, change):
    def reflected(self, connection, *args, **kwargs):
        found = dict(method(self, connection, *args, **kwargs))
        operators = {}
        if "tde_computed" in repr(found):
            operators = dict(tuple(row) for row in connection.execute(text("SELECT oprcode::regprocedure::text, oprname FROM pg_operator")))
        for entries in found.values():
            for entry in entries:
                change(entry, lambda expression: _as_declared(expression, operators))
        return found.items()
    return reflected


class _Reflection:
    """In place of the dialect's own methods."""
    ischema_names = _Names(ischema_names)
    get_multi_columns = _reflecting(postgresql.base.PGDialect.get_multi_columns, _change_column)
    get_multi_indexes = _reflecting(postgresql.base.PGDialect.get_multi_indexes, _change_index)


for _name in ("ischema_names", "get_multi_columns", "get_multi_indexes"):
    setattr(postgresql.base.PGDialect, _name, getattr(_Reflection, _name))
