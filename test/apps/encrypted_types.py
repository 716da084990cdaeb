"""The encrypted type of a plain one, as the two suites' tables are declared with it."""
import re

SYNONYMS = {
    "integer": "int4", "bigint": "int8", "smallint": "int2", "real": "float4", "float": "float8", "double precision": "float8",
    "boolean": "bool", "decimal": "numeric", "character varying": "varchar", "char": "bpchar", "character": "bpchar",
    "time without time zone": "time", "time with time zone": "timetz",
    "timestamp without time zone": "timestamp", "timestamp with time zone": "timestamptz",
}
TYPES = {
    "text", "varchar", "bpchar", "int2", "int4", "int8", "numeric", "float4", "float8", "bool", "date", "time", "timetz",
    "timestamp", "timestamptz", "interval", "bytea", "uuid", "json", "jsonb", "inet",
}
DECLARATION = re.compile(r"(?P<name>[a-z0-9]+( varying| precision)?)(?P<size> ?\([0-9, ]+\))?(?P<zone> with(out)? time zone)?",
                         re.IGNORECASE)


def encrypted(declaration):
    """"varchar(10)" becomes "encrypted_varchar(10)"; None, if there is no such type (arrays, enumerations, serial)."""
    parts = DECLARATION.fullmatch(declaration)
    if not parts:
        return None
    name = (parts["name"] + (parts["zone"] or "")).lower()
    name = SYNONYMS.get(name, name)
    size = (parts["size"] or "").strip()
    if name == "bpchar" and not size:
        size = "(1)"
    if parts["name"].lower() == "float" and size:  # in bits
        name, size = "float4" if int(size[1:-1]) <= 24 else "float8", ""
    return f"encrypted_{name}{size}" if name in TYPES else None
