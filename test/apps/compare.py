"""compare.py OUTCOMES KNOWN SUITE... - the tests that pass with plain columns and not with encrypted ones, by cause.

OUTCOMES has a file SUITE.plain and SUITE.encrypted for each suite; a line is a test's name, a tab, and passed, failed or skipped.
KNOWN: [cause] text, and below it the tests.  The end is 1 if there is a difference that is not there, or less is the same than wanted.
"""
import os
import re
import sys

# by the beginning of a test's name: what share of the tests that pass plain must pass encrypted
WANTED = {
    "django": 99.7, "sqlalchemy test/dialect/": 98.0, "sqlalchemy test/sql/": 99.9, "sqlalchemy test/orm/": 99.8,
    "asyncpg": 100.0, "peewee": 99.0, "rails": 99.5,
}


def outcomes(folder, suite, side):
    found = {}
    with open(f"{folder}/{suite}.{side}", encoding="utf-8") as file:
        for line in file:
            name, outcome = line.rstrip("\n").rsplit("\t", 1)
            # SQLAlchemy's tests are named for the server's version
            found[f"{suite} " + re.sub(r"_postgresql\+psycopg_[0-9_]+::", "::", name)] = outcome
    return found


def read_known(path):
    causes, cause = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("["):
                cause = line
                causes[cause] = []
            elif line and not line.startswith("#"):
                causes[cause].append(line)
    return causes


def write_known(path, causes, differing, ran):
    with open(path, encoding="utf-8") as file:
        head = [line for line in file.read().splitlines() if line.startswith("#")]
    known = {name for names in causes.values() for name in names}
    new = causes.setdefault("[new] not looked at yet", [])
    new += sorted(differing - known)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(head) + "\n")
        for cause, names in causes.items():
            left = [name for name in names if name in differing or name not in ran]
            if left:
                file.write("\n" + "\n".join([cause] + left) + "\n")


def main():
    folder, path, *suites = sys.argv[1:]
    plain, encrypted = {}, {}
    for suite in suites:
        plain.update(outcomes(folder, suite, "plain"))
        encrypted.update(outcomes(folder, suite, "encrypted"))
    passed = {name for name, outcome in plain.items() if outcome == "passed"}
    differing = {name for name in passed if encrypted.get(name) != "passed"}
    causes = read_known(path)
    known = {name for names in causes.values() for name in names}

    failed = False
    print(f"{'suite':<28}{'pass plain':>12}{'differ':>8}{'same':>10}{'wanted':>10}")
    for start, wanted in WANTED.items():
        count = sum(name.startswith(start) for name in passed)
        if count == 0:
            continue
        differ = sum(name.startswith(start) for name in differing)
        share = 100 * (count - differ) / count
        # of a selection everything may concern what is encrypted
        whole = not os.environ.get("APPS") and not os.environ.get("FILES")
        failed = failed or (whole and share < wanted)
        print(f"{start:<28}{count:>12}{differ:>8}{share:>9.2f}%{wanted:>9.1f}%")
    print()
    for cause, names in causes.items():
        print(f"{sum(name in differing for name in names):>5}  {cause}")
    for name in sorted(differing - known):
        print(f"new: {name}: {encrypted.get(name, 'not run')}")
    for name in sorted((known & set(plain)) - differing):
        print(f"no longer: {name}")
    if os.environ.get("UPDATE"):
        write_known(path, causes, differing, set(plain))
    elif differing - known:
        failed = True
    if not passed:
        print("no test has passed")
    sys.exit(failed or not passed)


main()
