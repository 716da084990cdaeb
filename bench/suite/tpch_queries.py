"""TPC-H's Q1 to Q5, without and with keys; and Q1 with and without the processor's instructions for AES."""

import statistics
import time
from contextlib import ExitStack

from . import BenchError
from .samples import Case, Samples, measure
from .tpch_schema import QUERIES, Q1_VARIANTS, VARIANTS

SETTINGS = {
    "AES-NI": {},
    "no AES-NI": {"OPENSSL_ia32cap": "~0x200000200000000"},
    "neither AES-NI nor SHA-NI": {"OPENSSL_ia32cap": "~0x200000200000000:~0x20000000"},
}
# the study's ratios: tablespace encryption in Oracle 11.2, TPC-H SF 10
PUBLISHED = {"AES-NI": 1.57, "no AES-NI": 4.74}
WANTED = {("AES-NI", "q1-salt-gcm"): 1.6, ("AES-NI", "q1-salt-mac"): 2.5, ("AES-NI", "q1-nosalt-nomac"): 1.55}
WANTED_SPEED = 5  # times as fast as pgcrypto
WANTED_SPEED_GCM = 6  # without keys
HELPS = 0.9  # keys help a query that needs less of its time without them than this


def workload(number, keys):
    return f"Q{number}, keys" if keys else f"Q{number}"


def analyze(server, variants, key_choices):
    """What a database in use has: statistics, and no hint bits to write."""
    with server.connect() as connection:
        for variant in variants:
            for keys in key_choices:
                for table, in connection.rows(f"SELECT relname FROM pg_class WHERE relkind = 'r' "
                                              f"AND relnamespace = '{variant.schema(keys)}'::regnamespace"):
                    connection.execute(f"VACUUM (FREEZE, ANALYZE) {variant.schema(keys)}.{table}")
        connection.execute("CHECKPOINT")


class Asker:
    """A session for each variant's schema; answers are compared with those that plain gave."""

    def __init__(self, server, stack):
        self.server, self.stack = server, stack
        self.sessions, self.answers = {}, {}

    def session(self, schema):
        if schema not in self.sessions:
            self.sessions[schema] = self.stack.enter_context(self.server.connect(search_path=f"{schema},public"))
        return self.sessions[schema]

    def ask(self, number, variant, keys=False):
        """Seconds until the answer is there, which must be plain's."""
        if number not in self.answers:
            plain = VARIANTS["plain"]
            self.answers[number] = self.session(plain.schema()).rows(plain.query(number))
        session, query = self.session(variant.schema(keys)), variant.query(number)
        begin = time.perf_counter()
        answer = session.rows(query)
        took = time.perf_counter() - begin
        if answer != self.answers[number]:
            raise BenchError(f"{workload(number, keys)} of {variant.name} answers otherwise than plain: "
                             f"{difference(answer, self.answers[number])}")
        return took


def difference(answer, wanted):
    if len(answer) != len(wanted):
        return f"{len(answer)} rows instead of {len(wanted)}"
    return next(f"{mine} instead of {other}" for mine, other in zip(answer, wanted) if mine != other)


def measure_queries(server, variants, rounds):
    with ExitStack() as stack:
        asker = Asker(server, stack)
        cases = [Case(workload(number, keys), variant.name,
                      lambda number=number, variant=variant, keys=keys: asker.ask(number, variant, keys))
                 for number in QUERIES for keys in (False, True) for variant in variants]
        samples = measure("tpch: queries", cases, rounds, base="plain")
        return samples, {number: len(answer) for number, answer in asker.answers.items()}


def trimmed_mean(figures):
    """The mean without the greatest and the least, as the study has it."""
    return statistics.mean(sorted(figures)[1:-1] if len(figures) > 2 else figures)


def report_queries(report, samples, answers, variants):
    report.comparison("Q1 to Q5", samples, "plain", scale=1e3, unit="ms", extra={"mean of the middle": trimmed_mean})
    report.note("The official parameters; every answer of every run was compared with plain's "
                f"(rows: {', '.join(f'Q{number} {rows}' for number, rows in answers.items())}). Mean of the middle: without the "
                "greatest and the least, as the study took it. It prints no figures, only charts, in which every query of "
                "encrypted tables is slower. pgcrypto decrypts and casts each column wherever it stands; pgcrypto-ciphertext "
                "asks the same tables, but joins, groups and compares with constants by ciphertext.")
    names = [variant.name for variant in variants[1:]]
    works = samples.workloads()
    report.bars("queries", "Q1 to Q5, ratio to plain", "ratio", works,
                {name: [samples.ratio(work, name, "plain") for work in works] for name in names}, log=True)
    ours = [name for name in names if not name.startswith("pgcrypto")]
    if len(ours) < len(names):
        report_speed(report, samples, ours)
    report_keys(report, samples, names, ours)


def report_speed(report, samples, ours):
    """How many times as fast as pgcrypto, medians of the rounds."""
    rows = []
    for work in samples.workloads():
        speeds = [samples.ratio(work, "pgcrypto", name) for name in ours]
        by_ciphertext = [samples.ratio(work, "pgcrypto-ciphertext", name) for name in ours]
        rows.append([work, *(f"{speed:.1f} {'pass' if speed >= wanted_speed(name, work) else '**MISS**'}"
                             for name, speed in zip(ours, speeds)),
                     *(f"{speed:.1f}" for speed in by_ciphertext)])
    report.note(f"## pgcrypto's time / ours\n\nWanted: {WANTED_SPEED} against pgcrypto; {WANTED_SPEED_GCM} with gcm, without keys.")
    report.table(["query", *(f"pgcrypto / {name}" for name in ours), *(f"pgcrypto-ciphertext / {name}" for name in ours)], rows)


def wanted_speed(name, work):
    return WANTED_SPEED_GCM if name == "salt-gcm" and not work.endswith(", keys") else WANTED_SPEED


def report_keys(report, samples, names, ours):
    """Whether keys help where they help plain; in the study they did not."""
    rows = []
    for number in QUERIES:
        without, keyed = workload(number, False), workload(number, True)
        gains = {name: statistics.median(mine / other for mine, other in zip(samples.of(keyed, name), samples.of(without, name)))
                 for name in ["plain", *names]}
        wanted = gains["plain"] <= HELPS
        cells = [f"{gains[name]:.2f}" + (verdict_of_keys(gains[name]) if wanted and name in ours else "") for name in names]
        rows.append([f"Q{number}", f"{gains['plain']:.2f}", "yes" if wanted else "no", *cells])
    report.note("## Time with keys / without\n\nWhere keys help plain (to less than "
                f"{HELPS} of the time) they should help encrypted tables too; in the study three of five queries became slower.")
    report.table(["query", "plain", "keys help plain", *names], rows)


def verdict_of_keys(ratio):
    return " pass" if ratio <= HELPS else " **MISS**"


def measure_instructions(server, rounds):
    """Q1, the server restarted for each setting; plain is measured beside in each."""
    samples = Samples()
    for setting, environment in SETTINGS.items():
        server.restart(**environment)
        with ExitStack() as stack:
            asker = Asker(server, stack)
            cases = [Case(setting, variant.name, lambda variant=variant: asker.ask(1, variant)) for variant in Q1_VARIANTS]
            samples.merge(measure(f"tpch: Q1, {setting}", cases, rounds, base="plain"))
    return samples, {variant.name: decryptions(server, variant) for variant in Q1_VARIANTS[1:]}


def decryptions(server, variant):
    """How many one Q1 needs."""
    with server.connect(search_path=f"{variant.schema()},public") as connection:
        connection.rows(variant.query(1))
        return connection.value("SELECT decryptions FROM tde.stats")


def report_instructions(report, samples, counts):
    names = [variant.name for variant in Q1_VARIANTS[1:]]
    report.comparison("Q1 and the processor's AES instructions", samples, "plain", scale=1e3, unit="ms", targets=WANTED,
                      published={(work, name): f"{ratio}" for work, ratio in PUBLISHED.items() for name in names})
    slower = ", ".join(f"{name} {samples.ratio('no AES-NI', name, 'plain') / samples.ratio('AES-NI', name, 'plain'):.2f}"
                       for name in names)
    report.note("The seven columns of lineitem that Q1 reads are encrypted, the rest is plain. The settings are OpenSSL's "
                "(`OPENSSL_ia32cap`) for the same binaries; the server is restarted for each, and plain is measured beside. "
                "Tables are cached: columns are decrypted at each read. Published: Oracle's tablespace encryption, which "
                f"decrypts when a block is read from disk. Ratio without AES-NI / with: {slower} (published: 3.01). Decryptions "
                f"of one Q1: {', '.join(f'{name} {count:,}' for name, count in counts.items())}; equal deterministic values that "
                "follow soon are decrypted once.")
    works = samples.workloads()
    report.bars("aesni", "Q1, ratio to plain", "ratio", works,
                {name: [samples.ratio(work, name, "plain") for work in works] for name in names},
                marks={(work, name): ratio for work, ratio in PUBLISHED.items() for name in names})
