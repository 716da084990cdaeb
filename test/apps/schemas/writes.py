"""writes.py - what test/apps/schemas/run compares: columns of NAME_plain and NAME_encrypted, and what the same writes do in both.

usage: writes.py compare NAME VERSION MESSAGES
       writes.py migrations FILE      the SQL in the migrations of a program in Go
"""
import re
import subprocess
import sys

VALUES = {  # of each type two, as literals
    "bool": ("true", "false"), "int2": ("1", "2"), "int4": ("1", "2"), "int8": ("1", "2"), "oid": ("1", "2"), "float4": ("1.5", "2.5"),
    "float8": ("1.5", "2.5"), "numeric": ("1.5", "2.5"), "date": ("2020-01-01", "2020-02-02"), "time": ("10:00", "11:00"),
    "timestamp": ("2020-01-01 10:00", "2020-02-02 11:00"), "timestamptz": ("2020-01-01 10:00+00", "2020-02-02 11:00+00"), "interval": ("1 day", "2 days"),
    "bytea": (r"\x01", r"\x0203"), "json": ('{"a": 1}', '{"a": 2}'), "jsonb": ('{"a": 1}', '{"a": 2}'), "inet": ("10.0.0.1", "10.0.0.2"),
    "uuid": ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"), "tsvector": ("one", "two")}


def psql(database, script, *flags):
    run = subprocess.run(["psql", "-XAtq", "-d", database, *flags], input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.stdout


def rows(database, query):
    return [line.split("\t") for line in psql(database, query, "-F", "\t", "-v", "ON_ERROR_STOP=1").splitlines()]


OURS = "relnamespace NOT IN (SELECT oid FROM pg_namespace WHERE nspname IN ('tde', 'tde_internal', 'pg_catalog', 'information_schema', 'pg_toast'))"


def columns(database):
    """{(table, column): (type, its base types, is it written?, its labels)}, in their order"""
    found = {}
    for table, column, name, kind, element, written, labels in rows(database, f"""
        SELECT c.oid::regclass, quote_ident(attname), format_type(t.oid, NULL), coalesce(b.typname, t.typname), t.typelem <> 0 AND t.typlen = -1,
               attgenerated = '' AND attidentity <> 'a',
               (SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = coalesce(b.oid, t.oid))
        FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid JOIN pg_type t ON t.oid = atttypid LEFT JOIN pg_type b ON b.oid = nullif(t.typbasetype, 0)
        WHERE relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0 AND NOT attisdropped AND {OURS} ORDER BY c.oid::regclass::text, attnum"""):
        found[table, column] = (name, kind, element == "t", written == "t", labels)
    return found


def encrypted_columns(database):
    """(table, column) of all whose type, element or base of a domain is encrypted"""
    return {(table, column) for table, column in rows(database, """
        SELECT attrelid::regclass, quote_ident(attname) FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
        WHERE EXISTS (SELECT FROM tde.types WHERE type IN (t.oid, t.typelem, t.typbasetype))""")}


def literal(column, which):
    name, kind, is_array, _, labels = column
    if labels:
        text = labels.split(",")[min(which, labels.count(","))]
    else:
        text = VALUES.get(kind, (f"{'ab'[which]}",) * 2)[which]
    return "NULL" if is_array and name.endswith("]") else "'" + text.replace("'", "''") + "'"


def statements(found):
    for table in dict.fromkeys(table for table, _ in found):
        mine = {name: column for (of, name), column in found.items() if of == table and column[3]}
        for which in (0, 1):
            yield f"INSERT INTO {table} ({', '.join(mine)}) VALUES ({', '.join(literal(column, which) for column in mine.values())});"
        for name, column in mine.items():
            yield f"UPDATE {table} SET {name} = {literal(column, 1)};"
            yield f"UPDATE {table} SET {name} = {name};"
        yield f"DELETE FROM {table} WHERE ctid = (SELECT min(ctid) FROM {table});"


def outcomes(database, script):
    """What became of each statement: its SQLSTATE, or how many rows."""
    text = psql(database, "\\set VERBOSITY sqlstate\n\\unset QUIET\n" + "".join(f"\\echo --{n}\n{line}\n" for n, line in enumerate(script)))
    return [block.partition("\n")[2].strip() for block in re.split(r"^--(?=\d)", text, flags=re.M)[1:]]


def contents(database, table, names):
    """Its rows in clear, without what the clock has put there."""
    shown = psql(database, f"SELECT ROW({', '.join(names)})::text FROM {table} ORDER BY 1")
    return sorted(re.sub(r"20(?!20)\d\d-\d\d-\d\d[ T]\d\d:\d\d:[\d.]+(\+00)?", "NOW", shown).splitlines())


def compare(name, version, messages):
    plain, encrypted = columns(f"{name}_plain"), columns(f"{name}_encrypted")
    said = dict(re.findall(r"^-- (\S+)\n((?:(?!-- ).*\n)*)", open(messages).read(), re.M))
    faults = [f"{table} is not in both" for table in {t for t, _ in plain} ^ {t for t, _ in encrypted}]
    done = encrypted_columns(f"{name}_encrypted")
    left = [key for key in plain if key in encrypted and key not in done]
    for table, column in left:
        # its own line of the warning's detail, with the hint behind
        if not re.search(rf"^(DETAIL:  )?{re.escape(column)}: .+\.  \S", said.get(table, ""), re.M):
            faults.append(f"{table}.{column} of type {plain[table, column][0]} is plain, and what helps is not told: {said.get(table, '').strip()}")
    script = list(statements(plain))
    drop = "".join(f"ALTER TABLE {table} DROP CONSTRAINT {key};\n" for table, key in rows(
        f"{name}_plain", f"SELECT conrelid::regclass, quote_ident(conname) FROM pg_constraint JOIN pg_class c ON c.oid = conrelid WHERE contype = 'f' AND conparentid = 0 AND {OURS}"))
    got = {}
    for side in ("plain", "encrypted"):
        psql(f"{name}_{side}", drop)
        got[side] = outcomes(f"{name}_{side}", script)
    for line, one, other in zip(script, got["plain"], got["encrypted"]):
        if one != other:
            faults.append(f"{line}\n    plain: {one}\n    encrypted: {other}")
    tables = list(dict.fromkeys(table for table, _ in plain))
    for table in tables:
        names = [column for of, column in plain if of == table]
        one, other = (contents(f"{name}_{side}", table, names) for side in ("plain", "encrypted"))
        if one != other:
            faults.append(f"{table} holds\n    plain: {one}\n    encrypted: {other}")
    good = sum(not re.search("ERROR", outcome) for outcome in got["plain"])
    print(f"{version}: {len(tables)} tables, {len(plain)} columns, {len(plain) - len(left)} encrypted, {len(left)} named; "
          f"{len(script)} writes, {good} of which succeed; {len(faults)} differences")
    for table, column in left:
        print(f"  named: {table}.{column} of type {plain[table, column][0]}")
    for fault in faults:
        print("  " + fault)
    return bool(faults) or not plain or good < len(script) / 2


if sys.argv[1] == "migrations":
    # statements in back quotes; those that are put together of parts are none
    for text in re.findall(r"(?:sql :?= |tx\.Exec\()`(.*?)`", open(sys.argv[2]).read(), re.S):
        print(text.strip().rstrip(";") + ";")
else:
    sys.exit(compare(*sys.argv[2:]))
