"""What the Python programs share: TAP, and comparing what a query does on the encrypted table with what it does on the plain one."""
import os
import sys

# off: without tde_column.transparent_results, when values have the encrypted types' OIDs and drivers fetch them as text
TRANSPARENT = os.environ.get("TRANSPARENT", "on") != "off"


class Tap:
    def __init__(self, driver):
        self.driver, self.count, self.failed = driver, 0, 0

    def same(self, kind, what, got, expected, protocol=""):
        """One check: both are functions; what they return must have the same type and value, or there must be no such operator."""
        got, expected = outcome(got), outcome(expected)
        self.count += 1
        good = typed(got) == typed(expected) and (not isinstance(expected, Failure) or expected == "42883")
        label = " ".join(filter(None, (self.driver, protocol, kind)))
        # a check whose expectation is an error says so
        note = f" # both fail: {expected}" if good and isinstance(expected, Failure) else ""
        print(f"{'ok' if good else 'not ok'} {self.count} - {label}: {what}{note}", flush=True)
        if not good:
            self.failed += 1
            print(f"#      got: {typed(got)!r}\n# expected: {typed(expected)!r}", flush=True)

    def array(self, fetch, protocol=""):
        """An array of an encrypted type, without a cast: a list; without transparent results its text or bytes, if the driver does not look
        into it, or a list of what it makes of an element."""
        value = outcome(fetch)
        good = value == [1, None, -3] if TRANSPARENT else value in ("{1,NULL,-3}", ["1", None, "-3"], [1, None, -3]) or isinstance(value, bytes)
        self.same("array", f"as it is: {type(value).__name__}", lambda: value, lambda: value if good else "{1,NULL,-3}", protocol)

    def end(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed or not self.count else 0)


class Failure(str):
    """SQLSTATE or, if it is the driver's own, type of an error."""


def outcome(function):
    try:
        return function()
    except Exception as error:
        source = getattr(error, "orig", error)
        failure = Failure(getattr(source, "sqlstate", None) or getattr(source, "pgcode", None) or type(error).__name__)
        if os.environ.get("VERBOSE"):
            print(f"# {failure}: {str(error).splitlines()[0]}")
        return failure


def typed(value):
    """The value with the types of all its parts, to be compared."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [typed(part) for part in value]
    return type(value).__name__, value


def param(mark, name):
    """A parameter in SQL: with a cast, unless its type is inferred to be the base type."""
    return mark if TRANSPARENT else typed_param(mark, name)


def typed_param(mark, name):
    # not mark::name, which would be a wrong number if the driver puts a minus sign before it
    return f"CAST({mark} AS {name})"
