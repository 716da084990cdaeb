"""Encrypted columns in SQLAlchemy's reflection, and so in Alembic's autogenerate, as columns of their base types: import it once.

SQLAlchemy reads the types of columns from the catalogs, which name the encrypted ones: encrypted_varchar(50,aes256,salt,mac).
"""
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
postgresql.base.PGDialect.ischema_names = _Names(ischema_names)
