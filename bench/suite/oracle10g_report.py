"""The report of the experiment oracle10g: its figures beside those of the study, and what becomes of the study's claims."""

from statistics import mean

from .oracle10g_study import CIPHERS, PEERS, PLAIN, QUIRKS, RATIOS, STATEMENTS
from .report import Report

MACS = ["nomac", "gcm", "mac"]
# for the study's claims, which are about all four ciphers
MACS_OF_ALL = ["nomac", "mac"]
SALTS = ["salt", "nosalt"]
WANTED = {"nomac": dict.fromkeys(STATEMENTS, 1.10), "mac": dict.fromkeys(STATEMENTS, 1.25),
          "gcm": {"INSERT": 1.10, "UPDATE": 1.08, "SELECT": 1.12}}
# what is measured in which way: series -> title of its table and charts
SERIES = {"index": "Loops, index on id", "no index": "Loops, no index", "pgbench": "pgbench, index on id"}


METHOD = """\
Tables `(id, pass varchar(25), cc numeric(15))` with pass and cc encrypted; PL/pgSQL loops of {turns:,} turns, one row each;
without an index, where UPDATE and SELECT are scans, about {scan_turns:,} turns of these over {turns:,} rows. TRUNCATE before
each loop of INSERT. The random values are made inside the loops (INSERT, UPDATE: {generator:.2f} us of each turn). pgbench:
{transactions:,} transactions of each table in each round, one client, simple protocol, the middle half by time. All variants
take turns; {rounds} rounds after one that warms up; ratios of loops are to a run of plain just before. At the end all tables
hold the same values. "plain again" is a second plain table: its ratio is noise.

mac: HMAC-SHA1, as in Oracle. nomac: what the study's Oracle had. pgcrypto: raw AES-256, zero IV, no MAC, in rewritten
statements. Published: ratio to plain in Oracle 10.2 without MAC and index (plain: {plain} for 10,000 turns); for pgcrypto:
measured apart, with a primary key."""
CLAIMS = """\
## The study's claims

Its order of ciphers is 3DES < AES128 < AES192 < AES256; its salt costs 6 to 9 points; its SELECT is hit hardest. Ranges are over
the four ciphers, each from the medians of the rounds. "holds" counts the columns of ours with the same order, with a mean inside
the published range, and with the same statement hit hardest."""


def report(options, series, generator, sizes, versions):
    """series: the samples of each; generator: seconds of a turn for its random values; sizes: variant -> bytes of (pass, cc)."""
    method = METHOD.format(turns=options.turns, scan_turns=options.scan_turns, generator=generator * 1e6,
                           transactions=options.transactions, rounds=options.rounds,
                           plain=", ".join(f"{name} {PLAIN[name]:.3f} s" for name in STATEMENTS))
    result = Report("Loops of single rows, as in a study of Oracle 10g", method, versions | {"repetitions": options.rounds})
    for name, samples in series.items():
        add_series(result, name, samples)
    result.note(f"column_encrypt 4.0 in such loops, measured apart, with a primary key: {listed(PEERS['column_encrypt'])}.")
    claims(result, series)
    storage(result, sizes)
    result.note(QUIRKS)
    return result


def listed(ratios):
    return ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())


def specs():
    """Variant -> (cipher, salt, MAC)."""
    return {f"{cipher} {salt} {mac}": (cipher, salt, mac) for mac in MACS for salt in SALTS for cipher in CIPHERS
            if (cipher, mac) != ("3des168", "gcm")}


def add_series(result, name, samples):
    published, targets = {}, {}
    for statement in STATEMENTS if name != "pgbench" else []:
        published |= {(statement, variant): RATIOS[statement][cipher, salt] for variant, (cipher, salt, _) in specs().items()}
        published |= {(statement, "pgcrypto"): PEERS["pgcrypto"][statement]}
    for statement in STATEMENTS if name == "index" else []:
        targets |= {(statement, variant): WANTED[mac][statement] for variant, (cipher, _, mac) in specs().items() if cipher != "3des168"}
    result.comparison(SERIES[name], samples, "plain", published=published, targets=targets, scale=1e6, unit="us")
    for mac in MACS:
        series = {f"{cipher} {salt}": [samples.ratio(statement, variant, "plain") for statement in STATEMENTS]
                  for variant, (cipher, salt, its_mac) in specs().items() if its_mac == mac}
        if name == "index":
            series["pgcrypto"] = [samples.ratio(statement, "pgcrypto", "plain") for statement in STATEMENTS]
        spread = {(statement, variant.removesuffix(f" {mac}")): span(samples.ratios(statement, variant, "plain"))
                  for statement in STATEMENTS for variant in specs() if variant.endswith(f" {mac}")}
        marks = {(statement, variant.removesuffix(f" {mac}")): figure for (statement, variant), figure in published.items()}
        result.bars(f"{name.replace(' ', '-')}-{mac}", f"{SERIES[name]}, {mac}: ratio to plain", "ratio", STATEMENTS, series,
                    marks=marks, spread=spread)


def span(figures):
    return min(figures), max(figures)


def claims(result, series):
    """The study's claims, computed from its tables and from our samples in the same way."""
    columns = [(name, mac) for name in series for mac in MACS_OF_ALL]
    # STATEMENT -> ((cipher, salt) -> ratio), of the study and of each of our columns
    sources = [{name: RATIOS[name].get for name in STATEMENTS}]
    sources += [{name: ratio_of(series[kind], name, mac) for name in STATEMENTS} for kind, mac in columns]
    rows = []
    for name in STATEMENTS:
        orders = [order(source[name]) for source in sources]
        rows.append([f"{name}: ciphers, cheapest first", *orders, orders.count(orders[0]) - 1])
    for name in STATEMENTS:
        rows.append([f"{name}: the salt's cost, points", *ranges([salt_points(source[name]) for source in sources], 1)])
    for name in STATEMENTS:
        rows.append([f"{name}: nosalt / salt", *ranges([nosalt_shares(source[name]) for source in sources], 3)])
    hit = [{name: mean(ratio((cipher, salt)) for cipher in CIPHERS for salt in SALTS) for name, ratio in source.items()}
           for source in sources]
    names = [max(ratios, key=ratios.get) for ratios in hit]
    rows.append(["hit hardest", *(f"{name} ({listed(ratios)})" for name, ratios in zip(names, hit)), names.count(names[0]) - 1])
    noise = [between([series[kind].ratio(name, "plain again", "plain") for name in STATEMENTS], 3) for kind, _ in columns]
    rows.append(["noise: plain again / plain", "", *noise, ""])
    result.note(CLAIMS)
    result.table(["", "published", *(f"{name}, {mac}" for name, mac in columns), f"holds, of {len(columns)}"], rows)


def ratio_of(samples, statement, mac):
    """(cipher, salt) -> our ratio to plain."""
    return lambda spec: samples.ratio(statement, " ".join([*spec, mac]), "plain")


def order(ratio):
    """Ciphers by their mean ratio over salt and nosalt."""
    return " < ".join(sorted(CIPHERS, key=lambda cipher: mean(ratio((cipher, salt)) for salt in SALTS)))


def salt_points(ratio):
    return [100 * (ratio((cipher, "salt")) - ratio((cipher, "nosalt"))) for cipher in CIPHERS]


def nosalt_shares(ratio):
    return [ratio((cipher, "nosalt")) / ratio((cipher, "salt")) for cipher in CIPHERS]


def ranges(figures, places):
    """Ranges as texts, the published one first, and how many of the others have their mean in that."""
    held = sum(min(figures[0]) <= mean(mine) <= max(figures[0]) for mine in figures[1:])
    return [*(between(mine, places) for mine in figures), held]


def between(figures, places):
    return f"{min(figures):.{places}f} .. {max(figures):.{places}f}"


def storage(result, sizes):
    result.note("## Storage\n\nOracle adds 1 to 52 bytes to a value, by cipher, salt and MAC.")
    result.table(["variant", "bytes of pass", "more than plain", "bytes of cc", "more than plain"],
                 [[variant, *(text for mine, plain in zip(figures, sizes["plain"])
                              for text in (f"{mine:.1f}", f"{mine - plain:+.1f}"))]
                  for variant, figures in sizes.items()])
