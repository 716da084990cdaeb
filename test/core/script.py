"""Regression scripts as psql reads them: split into statements, and their declarations switched to encrypted types."""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(r"""
    (?P<space>\s+|--[^\n]*)
  | (?P<comment>/\*)
  | (?P<dollar>\$(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*)?\$)
  | (?P<string>[eE]'(?:[^'\\]|\\.|'')*'|[bBxXnN]?'(?:[^']|'')*'|[uU]&'(?:[^']|'')*')
  | (?P<quoted>(?:[uU]&)?"(?:[^"]|"")*")
  | (?P<word>[A-Za-z_\x80-\xff][\w$\x80-\xff]*)
  | (?P<number>\d[\w.]*)
  | (?P<backslash>\\)
  | (?P<cast>::)
  | (?P<variable>:(?:'[^']*'|"[^"]*"|[A-Za-z_]\w*))
  | (?P<mark>.)
""", re.X | re.S)

# Backslash commands that send what was typed so far.
SENDING = re.compile(r"\\(g|gx|gset|gexec|gdesc|crosstabview|watch)\b")
COPY_IN = re.compile(r"\s*\\?copy\b.*\bfrom\s+stdin\b", re.I | re.S)


@dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int

    @property
    def low(self):
        """How SQL compares it: a name without its quotes, anything else in lower case."""
        return self.text[1:-1] if self.kind == "quoted" else self.text.lower()


@dataclass
class Statement:
    text: str  # what psql reads, COPY data included
    tokens: list = field(default_factory=list)  # without spaces and comments, positions within text
    command: bool = False  # a backslash command

    def words(self, count=4):
        return [t.low for t in self.tokens[:count]]


def scan(text, pos):
    """The token at a position."""
    match = TOKEN.match(text, pos)
    kind, end = match.lastgroup, match.end()
    if kind == "comment":
        depth = 1
        while depth and end < len(text):
            if text.startswith("/*", end):
                depth, end = depth + 1, end + 2
            elif text.startswith("*/", end):
                depth, end = depth - 1, end + 2
            else:
                end += 1
        kind = "space"
    elif kind == "dollar":
        close = text.find(match.group(), end)
        end = len(text) if close < 0 else close + len(match.group())
        kind = "string"
    return Token(kind, text[pos:end], pos, end)


def line_end(text, pos):
    end = text.find("\n", pos)
    return len(text) if end < 0 else end + 1


def split(text):
    """The statements of a script, each with the comments before it."""
    start = pos = depth = begins = 0
    tokens, result = [], []

    def finish(end, command=False):
        nonlocal start, pos, depth, begins, tokens
        if COPY_IN.match(text[tokens[0].start if tokens else start:end]):
            # the data begin on the next line, and end with "\."
            end = line_end(text, end)
            close = re.compile(r"^\\\.[ \t]*(\n|\Z)", re.M).search(text, end)
            end = close.end() if close else len(text)
        for token in tokens:
            token.start, token.end = token.start - start, token.end - start
        result.append(Statement(text[start:end], tokens, command))
        start = pos = end
        depth = begins = 0
        tokens = []

    while pos < len(text):
        token = scan(text, pos)
        pos = token.end
        if token.kind == "space":
            continue
        if token.kind == "backslash":
            if text.startswith(";", pos):
                tokens.append(Token("mark", "\\;", token.start, pos + 1))
                pos += 1
                continue
            end = line_end(text, pos)
            if not tokens:
                tokens.append(Token("word", text[token.start:end].split()[0], token.start, end))
                finish(end, True)
            elif SENDING.match(text, token.start):
                finish(end)
            else:
                pos = end
            continue
        tokens.append(token)
        if token.text == "(":
            depth += 1
        elif token.text == ")":
            depth = max(depth - 1, 0)
        elif token.kind == "word" and tokens[0].low == "create":
            # BEGIN ATOMIC ... END, as psql counts them
            if token.low == "begin" or (begins and token.low == "case"):
                begins += any(t.low in ("function", "procedure") for t in tokens[:4])
            elif token.low == "end" and begins:
                begins -= 1
        elif token.text == ";" and not depth and not begins:
            finish(pos)
    if text[start:].strip():
        finish(len(text))
    return result


# Declarations

TYPES = {
    "text": "text", "varchar": "varchar", "bpchar": "bpchar", "char": "bpchar", "character": "bpchar",
    "int2": "int2", "smallint": "int2", "int4": "int4", "int": "int4", "integer": "int4", "int8": "int8", "bigint": "int8",
    "numeric": "numeric", "decimal": "numeric", "dec": "numeric", "float4": "float4", "real": "float4",
    "float8": "float8", "float": "float8", "double": "float8", "bool": "bool", "boolean": "bool", "date": "date",
    "time": "time", "timetz": "timetz", "timestamp": "timestamp", "timestamptz": "timestamptz", "interval": "interval",
    "bytea": "bytea", "uuid": "uuid", "json": "json", "jsonb": "jsonb", "inet": "inet", "tsvector": "tsvector", "hstore": "hstore",
}
TABLE_CONSTRAINTS = {"constraint", "primary", "unique", "check", "foreign", "exclude", "like"}
SERIALS = {"serial", "serial2", "serial4", "serial8", "smallserial", "bigserial"}


def encrypted_type(tokens, spec):
    """(number of tokens, encrypted type) for the type that tokens begin with, or None to leave it as it is."""
    low = [t.low for t in tokens]
    at = 2 if low[:2] == ["pg_catalog", "."] else 0
    if at >= len(tokens) or tokens[at].kind != "word" or low[at] not in TYPES:
        return None
    name, at = TYPES[low[at]], at + 1
    if low[at - 1] == "double":
        if low[at:at + 1] != ["precision"]:
            return None
        at += 1
    elif low[at - 1] in ("char", "character") and low[at:at + 1] == ["varying"]:
        name, at = "varchar", at + 1
    modifiers = []
    if low[at:at + 1] == ["("]:
        close = low.index(")", at)
        modifiers = [t for t in low[at + 1:close] if t != ","]
        at = close + 1
    if name in ("time", "timestamp") and low[at:at + 3] in (["with", "time", "zone"], ["without", "time", "zone"]):
        name, at = name + ("tz" if low[at] == "with" else ""), at + 3
    if low[at:at + 1] in (["["], ["array"]) or low[at:at + 1] == ["."]:
        return None
    if name == "interval" and low[at:at + 1] and low[at] in ("year", "month", "day", "hour", "minute", "second"):
        return None
    if not all(m.isdigit() for m in modifiers):
        return None  # a negative scale
    if low[0] == "float" and modifiers:
        name, modifiers = ("float4" if int(modifiers[0]) <= 24 else "float8"), []
    if low[0] in ("char", "character") and name == "bpchar" and not modifiers:
        modifiers = ["1"]
    # what the type modifier has no room for
    if name == "numeric" and modifiers and int(modifiers[0]) > 62 or name in ("varchar", "bpchar") and modifiers and int(modifiers[0]) > 4094:
        return None
    words = modifiers + ([spec] if spec else [])
    return at, f"encrypted_{name}" + (f"({','.join(words)})" if words else "")


def elements(tokens):
    """Lists of tokens between the commas, at depth 0."""
    depth, part = 0, []
    for token in tokens:
        if token.text in ("(", "["):
            depth += 1
        elif token.text in (")", "]"):
            depth -= 1
        if token.text == "," and not depth:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def skip(tokens, at, *words):
    for word in words:
        if at < len(tokens) and tokens[at].low == word:
            at += 1
    return at


def name_at(tokens, at):
    """(name, index after it) of a possibly qualified name."""
    while at + 2 < len(tokens) and tokens[at + 1].text == ".":
        at += 2
    return tokens[at].low if at < len(tokens) else "", at + 1


def closing(tokens, at):
    depth = 0
    for i in range(at, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i].text, 0)
        if not depth:
            return i
    return len(tokens)


def created_table(tokens):
    """(name, index after it) of CREATE TABLE, or None"""
    if not tokens or tokens[0].low != "create":
        return None
    at = 1
    while at < len(tokens) and tokens[at].low in ("global", "local", "temp", "temporary", "unlogged"):
        at += 1
    if at >= len(tokens) or tokens[at].low != "table":
        return None
    return name_at(tokens, skip(tokens, at + 1, "if", "not", "exists"))


def declared_columns(tokens, at):
    """Lists of tokens, each of which begins with the name of a column, of CREATE TABLE's list that begins at an index."""
    if at < len(tokens) and tokens[at].text == "(":
        for element in elements(tokens[at + 1:closing(tokens, at)]):
            if len(element) > 1 and not (element[0].kind == "word" and element[0].low in TABLE_CONSTRAINTS):
                yield element


def serial_columns(statement, serials):
    """Names of columns of the table that a statement makes that are serial, or inherited from such ones: they stay plain."""
    tokens = statement.tokens
    table = created_table(tokens)
    if not table:
        return set()
    columns = {element[0].low for element in declared_columns(tokens, table[1]) if element[1].low in SERIALS}
    low = [t.low for t in tokens]
    if "inherits" in low:
        at = low.index("inherits") + 1
        for parent in elements(tokens[at + 1:closing(tokens, at)]):
            columns |= serials.get(name_at(parent, 0)[0], set())
    return columns


def column_types(statement, plain, serials):
    """Lists of tokens, each of which begins with the type of a declared column."""
    tokens = statement.tokens
    if statement.words(2) == ["create", "schema"]:
        starts = [i for i in range(2, len(tokens)) if tokens[i].low == "create"] + [len(tokens)]
        for start, end in zip(starts, starts[1:]):
            yield from column_types(Statement(statement.text, tokens[start:end]), plain, serials)
        return
    table = created_table(tokens)
    if table:
        name, at = table
        inherited = serial_columns(statement, serials)
        for element in declared_columns(tokens, at) if name not in plain else ():
            if element[0].low not in inherited:
                yield element[1:]
    elif statement.words(2) == ["alter", "table"]:
        name, at = name_at(tokens, skip(tokens, 2, "if", "exists", "only"))
        if name in plain:
            return
        for action in elements(tokens[skip(tokens, at, "*"):]):
            low = [t.low for t in action]
            if low[:1] == ["add"] and len(low) > 2:
                i = skip(action, 1, "column", "if", "not", "exists")
                if i < len(low) and not (action[i].kind == "word" and low[i] in TABLE_CONSTRAINTS):
                    yield action[i + 1:]
            elif low[:1] == ["alter"] and "type" in low[2:6]:
                yield action[low.index("type", 2) + 1:]


def encrypt(statement, spec, plain, serials):
    """The text with its columns declared encrypted, but for those of the tables 'plain', and what is in 'serials', {table: columns}."""
    changes = []
    for tokens in column_types(statement, plain, serials):
        low = [t.low for t in tokens]
        if "generated" in low and "identity" in low:
            continue  # PostgreSQL allows it for its own integers only
        found = encrypted_type(tokens, spec)
        if found:
            changes.append((tokens[0].start, tokens[found[0] - 1].end, found[1]))
    text = statement.text
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def ordered(statement):
    """Has it an ORDER BY of its own, outside of parentheses?"""
    depth, tokens = 0, statement.tokens
    for token, after in zip(tokens, tokens[1:]):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if not depth and token.low == "order" and after.low == "by":
            return True
    return False


# Which statements touch encrypted columns

BEFORE_RELATION = {"from", "join", "into", "update", "table", "only", "copy", "on", ",", "of", "like", "using", "truncate", "analyze",
                   "vacuum", "view", "exists", "references", "inherits", "lock", "(", "as", "index", "concurrently"}
RELATIONS = ("table", "view", "index", "function", "procedure", "aggregate", "type", "domain")


def made(statement):
    """Names of what a statement makes: a relation, a function, a prepared statement, a cursor."""
    tokens = statement.tokens
    low = [t.low for t in tokens]
    if low[:1] == ["create"]:
        for i, word in enumerate(low[1:7], 1):
            if word in RELATIONS:
                return {name_at(tokens, skip(tokens, i + 1, "concurrently", "if", "not", "exists"))[0]} - {"on"}
    elif low[:1] in (["prepare"], ["declare"]):
        return {low[1]}
    elif low[:1] in (["select"], ["with"]) and "into" in low:
        return {name_at(tokens, skip(tokens, low.index("into") + 1, "temp", "temporary", "unlogged", "table"))[0]}
    elif low[:2] in (["alter", "table"], ["alter", "view"]) and low[-4:-2] == ["rename", "to"]:
        return {low[-2]}
    return set()


def variable(statement):
    """(name, Statement) of a statement kept in a variable of psql, or None"""
    match = re.match(r"\s*\\set\s+(\w+)\s+'(.*)'\s*$", re.sub(r"(?m)^\s*--.*\n", "", statement.text), re.S)
    return match and (":" + match[1], split(match[2].replace("''", "'") + ";"))


def touches(statement, names):
    """Does it name one of these where a relation, a function, a prepared statement or a cursor stands?"""
    tokens = statement.tokens
    for i, token in enumerate(tokens):
        if token.kind == "string" and tokens[0].low in ("create", "do"):
            # the body of a function
            body = re.sub(r"^\$[^$]*\$|\$[^$]*\$$|^'|'$", "", token.text) + ";"
            if i and any(touches(part, names) for part in split(body)):
                return True
        if token.kind == "variable" and token.text in names:
            return True
        if token.kind not in ("word", "quoted"):
            continue
        if token.low not in names or i == 0:
            continue
        before = tokens[i - 1]
        after = tokens[i + 1].text if i + 1 < len(tokens) else ""
        if before.low in BEFORE_RELATION or before.text == "." and tokens[i - 2].kind in ("word", "quoted") and i > 2 \
                and tokens[i - 3].low in BEFORE_RELATION or after == "(" or tokens[0].low in ("execute", "fetch", "move", "close"):
            return True
    return False
