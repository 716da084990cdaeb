#!/usr/bin/env python3
"""Run PostgreSQL's regression scripts with plain and with encrypted columns, and compare what each statement gives.

compare.py SRCDIR WORKDIR OUTDIR KNOWN LIST [SCRIPT...]; test/core/columns calls it, with the two servers running.
"""

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import script as sql

MARK = "@@statement"
SERVERS = ("plain", "encrypted")
TARGET = 99.2

# What scripts of a contrib module, MODULE/SCRIPT, find in their database besides it.
MODULES = {"pg_trgm": "SELECT tde_create_gin_class('gin_trgm_ops')",
           "hstore": "SELECT tde_create_type('hstore'); SELECT tde_create_gin_class('gin_hstore_ops')"}

DISPLAY = {"int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real", "float8": "double precision", "bool": "boolean",
           "varchar": "character varying", "bpchar": "character", "time": "time without time zone", "timetz": "time with time zone",
           "timestamp": "timestamp without time zone", "timestamptz": "timestamp with time zone"}
ENCRYPTED = re.compile(r"encrypted_([a-z0-9]+)(?:\(([^()]*)\))?")
ENCRYPTED_OPS = re.compile(r"encrypted_([a-z0-9]+)_ops")
NUMBER = re.compile(r"\s*(?:-?\d[\d.]*(?:e[+-]\d+)?|NaN|-?Infinity|)\s*")
ERROR = re.compile(r"^(ERROR|FATAL|PANIC):", re.M)


def plain_names(text):
    """Names of encrypted types replaced by those of their base types, as PostgreSQL prints them."""
    def base(match):
        first, _, rest = DISPLAY.get(match[1], match[1]).partition(" ")
        modifiers = [m for m in re.split(r",\s*", match[2] or "") if m.isdigit()]
        if match[1] in ("varchar",):
            first, rest = "character varying", ""
        return first + (f"({','.join(modifiers)})" if modifiers else "") + (" " + rest if rest else "")
    return ENCRYPTED.sub(base, ENCRYPTED_OPS.sub(r"\1_ops", text))


def settled(text):
    """Without what depends on the lengths of names, and whether a char(n) without length is called bpchar, as casts have it."""
    text = re.sub(r"^[ \t]+|[ \t]+(?=\+?$)", "", text.replace("::bpchar", "::character"), flags=re.M)
    return re.sub(r"-{2,}", "--", re.sub(r"[ \t]+", " ", text))


def unaligned(text):
    """Without the padding of numbers: psql aligns them to the right by their type."""
    def cell(text):
        return text.strip() if NUMBER.fullmatch(text) else text
    return "\n".join("|".join(map(cell, line.rstrip().split("|"))) for line in text.split("\n"))


def without_position(text):
    """Errors without the line that shows where they are."""
    return re.sub(r"^LINE \d+: .*\n *\^\n", "", text, flags=re.M)


@dataclass
class Item:
    """A statement of a script, and what is known of it."""
    statement: sql.Statement
    text: str  # with encrypted columns
    touching: bool
    otherwise: bool  # not encrypted at all
    hash: str
    refused: bool = False  # with encrypted columns, so that plain ones must do without it as well

    @property
    def texts(self):
        if self.refused:
            return {"plain": "", "encrypted": f"\\set ON_ERROR_ROLLBACK on\n{self.text}\n\\set ON_ERROR_ROLLBACK off"}
        return {"plain": self.statement.text, "encrypted": self.text}

    @property
    def explains(self):
        return any(word.startswith("explain") for word in self.statement.words(2))

    def same(self, plain, encrypted):
        if self.otherwise:
            return False
        if self.refused:
            return not ERROR.search(encrypted or "")
        if plain == encrypted:
            return True
        if plain is None or encrypted is None:
            return False
        if self.explains:
            return bool(ERROR.search(plain)) == bool(ERROR.search(encrypted))
        if "encrypted_" in encrypted:
            plain, encrypted = settled(plain), settled(plain_names(encrypted))
        if self.text != self.statement.text:
            plain, encrypted = without_position(plain), without_position(encrypted)
        if plain == encrypted:
            return True
        plain, encrypted = unaligned(plain), unaligned(encrypted)
        if plain == encrypted:
            return True
        return not sql.ordered(self.statement) and sorted(plain.splitlines()) == sorted(encrypted.splitlines())


def items(source, encrypted, unencrypted, refused, spec):
    """The statements of a script.  Names of what holds encrypted columns are added to 'encrypted' on the way; the tables that
    statements with the hashes 'unencrypted' make stay as they are, and count as a difference where it says so."""
    seen, plain, serials, result = Counter(), set(), {}, []
    for statement in sql.split(source):
        words = " ".join(t.text for t in statement.tokens)
        seen[words] += 1
        hash = hashlib.sha1(f"{words} {seen[words]}".encode()).hexdigest()[:8]
        if hash in unencrypted:
            name = sql.created_table(statement.tokens)[0]
            plain.add(name)
            encrypted.discard(name)
            result.append(Item(statement, statement.text, unencrypted[hash], unencrypted[hash], hash))
            continue
        if statement.command and sql.variable(statement):
            name, parts = sql.variable(statement)
            if any(sql.touches(part, encrypted) for part in parts):
                encrypted.add(name)
        for name in sql.made(statement):
            serials[name] = sql.serial_columns(statement, serials)
        text = sql.encrypt(statement, spec, plain, serials)
        if sql.created_table(statement.tokens) and text == statement.text and sql.touches(statement, plain):
            plain |= sql.made(statement)  # LIKE, PARTITION OF, INHERITS
        touching = not statement.command and (text != statement.text or sql.touches(statement, encrypted))
        if touching:
            encrypted |= sql.made(statement)
            plain -= sql.made(statement)
        result.append(Item(statement, text, touching or hash in refused, False, hash, hash in refused))
    return result


def psql(work, server, database, text, out, folder=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith("PG") or k.startswith(("PG_ABS", "PG_LIBDIR", "PG_DLSUFFIX"))}
    env.update(PGHOST=str(work / server), PGUSER="postgres", PGDATABASE=database, PGTZ="PST8PDT", PGDATESTYLE="Postgres, MDY",
               PGOPTIONS="-c intervalstyle=postgres_verbose", LC_ALL="C", PG_ABS_BUILDDIR=str(work / f"results_{server}"))
    with open(out, "w+b") as file:
        try:
            subprocess.run(["psql", "-X", "-q", "-d", database], input=text.encode("latin1"), stdout=file, stderr=subprocess.STDOUT,
                           env=env, cwd=folder or work / f"results_{server}", timeout=900, check=False)
        except subprocess.TimeoutExpired:
            file.write(b"\nthe script took too long\n")
        file.seek(0)
        return file.read().decode("latin1")


def blocks(output):
    """{number of the statement: its output}"""
    found, number, lines = {}, None, []
    for line in output.splitlines(keepends=True):
        match = re.match(rf"{MARK} (\d+)$", line.rstrip("\n"))
        if match:
            if number is not None:
                found[number] = "".join(lines)
            number, lines = int(match[1]), []
        else:
            lines.append(line)
    if number is not None:
        found[number] = "".join(lines)
    return found


def marked(texts):
    return "".join(f"\\echo {MARK} {i}\n{text.rstrip(chr(10))}\n" for i, text in enumerate(texts)) + f"\\echo {MARK} {len(texts)}\n"


class Comparison:
    def __init__(self, src, work, out, known):
        self.src, self.work, self.out = src, work, out
        self.causes, self.known, self.unencrypted, self.refused = read_known(known)
        self.spec = os.environ.get("SPEC", "")
        self.encrypted = set()  # names of relations and functions with encrypted columns, in the template database
        self.totals, self.found, self.explained = Counter(), Counter(), 0
        self.new, self.gone = [], []  # lines for the file of known differences, (script, hash) to be taken out of it

    def database(self, command):
        for server in SERVERS:
            psql(self.work, server, "postgres", command, self.work / "log" / f"database_{server}.log")

    def folder(self, name):
        """Where the script of a contrib module is; None: it is none."""
        return self.work / "contrib" / name.split("/")[0] if "/" in name else None

    def create_module(self, module):
        for server in SERVERS:
            made = f"CREATE EXTENSION {module}; {MODULES[module] if server == 'encrypted' else ''}"
            psql(self.work, server, "regression", made, self.work / "log" / f"{module}_{server}.log")

    def both(self, name, texts):
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(psql, self.work, server, "regression", marked(texts[server]), self.work / "log" / f"{name.replace('/', '_')}_{server}.out",
                                self.folder(name)) for server in SERVERS]
            return [blocks(job.result()) for job in jobs]

    def run(self, name, setup=False):
        encrypted = self.encrypted if setup else set(self.encrypted)
        folder = self.folder(name)
        if folder:
            self.create_module(folder.name)
        source = ((folder or self.src) / "sql" / f"{name.split('/')[-1]}.sql").read_text("latin1")
        todo = items(source, encrypted, self.unencrypted.get(name, {}), self.refused.get(name, set()), self.spec)
        plain, enc = self.both(name, {server: [i.texts[server] for i in todo] for server in SERVERS})
        return [(item, plain.get(i), enc.get(i)) for i, item in enumerate(todo)]

    def report(self, name, results):
        known = self.known.get(name, {})
        counts = Counter(statements=sum(not item.statement.command for item, _, _ in results))
        unseen = dict(known)
        with open(self.out / f"{name.replace('/', '_')}.txt", "w", encoding="latin1") as file:
            for number, (item, plain, encrypted) in enumerate(results):
                same = item.same(plain, encrypted)
                if not item.touching and (same or item.statement.command):
                    continue  # but a statement that differs counts, whatever it names
                counts["touching"] += 1
                self.explained += item.explains
                if same:
                    counts["same"] += 1
                    continue
                counts["differing"] += 1
                cause = known.get(item.hash, "new")
                unseen.pop(item.hash, None)
                self.found[cause] += 1
                if cause == "new":
                    self.new.append(f"{name} {item.hash}  {' '.join(' '.join(t.text for t in item.statement.tokens).split())[:90]}")
                file.write(f"==== {name} {item.hash} {cause} (statement {number})\n{item.text.strip()}\n---- plain\n"
                           f"{plain if plain is not None else '(not run)'}---- encrypted\n"
                           f"{encrypted if encrypted is not None else '(not run)'}\n")
        self.gone += [(name, hash) for hash in unseen]
        self.totals += counts
        print(f"{name:<28}{counts['statements']:>12}{counts['touching']:>10}{counts['same']:>8}{counts['differing']:>11}", flush=True)


def read_known(path):
    """({cause: text}, {script: {hash: cause}}, {script: {hash of a table that is not encrypted: does it count}},
    {script: hashes of what is refused})"""
    causes, known, unencrypted, refused, cause = {}, {}, {}, {}, None
    for line in path.read_text().splitlines() if path.exists() else []:
        script, hash, *_ = line.split() + ["", ""]
        if line.startswith("["):
            cause, _, text = line[1:].partition("]")
            causes[cause] = text.strip()
        elif script and not line.startswith("#"):
            if hash[0] in "!-":
                unencrypted.setdefault(script, {})[hash[1:]] = hash[0] == "!"
            if hash[0] == "~":
                refused.setdefault(script, set()).add(hash[1:])
            if hash[0] != "-":
                known.setdefault(script, {})[hash.lstrip("!~")] = cause
    return causes, known, unencrypted, refused


def update_known(path, new, gone):
    def key(line):
        script, hash, *_ = line.split() + ["", ""]
        return script, hash.lstrip("!~")
    lines = [line for line in path.read_text().splitlines() if key(line) not in gone]
    if new:
        lines += ["", "[new] to be explained", *new]
    path.write_text("\n".join(lines) + "\n")


def main():
    src, work, out, known = (Path(arg) for arg in sys.argv[1:5])
    setup, scripts = sys.argv[5].split(), sys.argv[6].split()
    chosen = sys.argv[7:] or setup + scripts
    comparison = Comparison(src, work, out, known)
    print(f"{'script':<28}{'statements':>12}{'touching':>10}{'same':>8}{'differing':>11}")
    comparison.database("CREATE DATABASE regression TEMPLATE template_core")
    for name in setup:
        results = comparison.run(name, setup=True)
        if name in chosen:
            comparison.report(name, results)
    comparison.database("DROP DATABASE template_core")
    comparison.database("ALTER DATABASE regression RENAME TO template_core")
    for name in (n for n in chosen if n not in setup):
        comparison.database("CREATE DATABASE regression TEMPLATE template_core STRATEGY file_copy")
        comparison.report(name, comparison.run(name))
        comparison.database("DROP DATABASE regression WITH (FORCE)")

    totals = comparison.totals
    percent = 100 * totals["same"] / max(totals["touching"], 1)
    print(f"{'total':<28}{totals['statements']:>12}{totals['touching']:>10}{totals['same']:>8}{totals['differing']:>11}   {percent:.2f} % the same")
    print(f"\n{comparison.explained} of the touching statements are EXPLAIN, of which only the success is compared.\n")
    for cause, count in comparison.found.most_common():
        print(f"{count:>5}  {cause}: {comparison.causes.get(cause, 'no cause in test/core/known')}")
    for line in comparison.new:
        print("new:", line)
    for script, hash in comparison.gone:
        print(f"in test/core/known, but the same now: {script} {hash}")
    if os.environ.get("UPDATE"):
        update_known(known, comparison.new, comparison.gone)
    print(f"differing statements with both outputs: {out}")
    sys.exit(percent < TARGET or bool(comparison.new))


main()
