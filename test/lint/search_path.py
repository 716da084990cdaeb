"""Lint the install script, the functions in SQL that it makes, and updates, for names that somebody else's objects could take over, and
for literals that a setting changes.

usage: search_path.py PGSPOT FUNCTIONS SCRIPT...

PGSPOT: the linter's command (pgspot, from PyPI).  FUNCTIONS: definitions of the extension's functions in SQL that have no search_path of
their own, as pg_get_functiondef() gives them.  SCRIPT: the install script, and those of updates.  Prints a finding in a line; exit status
1 if there is one, 2 if the linter does not work.
"""

import re
import subprocess
import sys
import tempfile

PATH = "SET LOCAL search_path = pg_catalog, pg_temp;\n"

# What the linter must find, to know that it works.
PLANTED = """
CREATE FUNCTION public.planted() RETURNS text LANGUAGE sql SET search_path = public AS $$ SELECT format('%s', 'x' || lower('Y')) $$;
"""

# Procedures that COMMIT cannot have settings.  They set the path as their first statement after each COMMIT; test/pgtap/catalog.sql
# looks whether they do.
PROCEDURE = re.compile(r"^CREATE PROCEDURE ([\w.]+)\(([^;]*?)\)\s*\nLANGUAGE", re.S | re.M)

# Bodies that are parsed when the function is made, under the script's path.  The linter cannot read them.
PARSED_BODY = re.compile(r"^CREATE FUNCTION (?:(?!^CREATE |^COMMENT |\bAS [$']).)*?\bLANGUAGE sql\b(?:(?!\bAS [$']).)*?\b(?:RETURN|BEGIN ATOMIC)\b"
                         r".*?;\n(?=COMMENT |REVOKE )", re.S | re.M)


# A string literal, with its continuations on the next lines.
LITERAL = re.compile(r"""\$[a-z_]*\$|--[^\n]*|"[^"\n]*"|(?P<escapes>\bE)?(?P<body>'(?:[^']|'')*'(?:\s*\n\s*'(?:[^']|'')*')*)""", re.S)


def backslashes(script):
    """Plain literals that would be read in another way with standard_conforming_strings = off."""
    found = [m for m in LITERAL.finditer(re.sub(r"^\\echo.*$", "", script, flags=re.M)) if m["body"] and not m["escapes"] and "\\" in m["body"]]
    return [f"a backslash in a literal that is not E'...': {m[0]}" for m in found]


def lint(command, text, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(text)
        file.flush()
        run = subprocess.run([command, *options, file.name], capture_output=True, text=True)
    if not re.search(r"Errors: \d+ Warnings: \d+ Unknown: 0\s*$", run.stdout) or run.stderr:
        print("the linter failed:", run.stdout[-500:], run.stderr[-2000:])
        sys.exit(2)
    return [line for line in run.stdout.splitlines() if re.match(r"PS\d+:", line)]


def script_findings(command, name):
    """Of a script; how many functions, procedures and parsed bodies it has."""
    # what an update replaces is the extension's own: PostgreSQL refuses any other
    script = re.sub(r"^CREATE OR REPLACE (FUNCTION|PROCEDURE|VIEW)", r"CREATE \1", open(name).read(), flags=re.M)
    if not backslashes(r"SELECT $$ x $$, E'\\n' '\\n', '\\d' -- it's"):
        print("backslashes are not found")
        sys.exit(2)
    findings = backslashes(script)
    if script.index(PATH) > re.search(r"^(CREATE|DO|GRANT|SELECT|ALTER|DROP)\b", script, re.M).start():
        findings.append(f"{name} makes something before it sets its search_path")
    script = re.sub(r"^\\echo.*$", "", script, flags=re.M).replace("@extschema@", "pg_catalog").replace("MODULE_PATHNAME", "$libdir/x")
    bodies = PARSED_BODY.findall(script)
    script = PARSED_BODY.sub("", script)
    names = {name for name, _ in PROCEDURE.findall(script)}
    found = lint(command, script + PLANTED)
    planted = [line for line in found if "planted" in line or re.search(r"format|lower|'\|\|'", line)]
    if len(planted) < 3:
        print("the linter does not find what was planted:", *planted, sep="\n")
        sys.exit(2)
    ours = [line for line in found if line not in planted]
    findings += [line for line in ours if not (line.startswith("PS005:") and re.search(r"search_path: ([\w.]+)\(", line).group(1) in names)]
    return findings, script.count("CREATE FUNCTION"), len(names), len(bodies)


def main(command, functions, *scripts):
    functions = open(functions).read().replace("CREATE OR REPLACE FUNCTION", "CREATE FUNCTION")
    findings = lint(command, PATH + functions, "--ignore", "PS005")
    parsed = 0
    for name in scripts:
        found, made, procedures, bodies = script_findings(command, name)
        findings += found
        parsed += bodies
        print(f"{name}: {len(found)} holes in {made} functions and {procedures} procedures; {bodies} are parsed with the script")
    print(*findings, sep="\n", end="\n" if findings else "")
    print(f"{len(findings)} holes, those in {functions.count('CREATE FUNCTION')} functions that the scripts make included")
    return 1 if findings or parsed < 5 or functions.count("CREATE FUNCTION") < 200 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
