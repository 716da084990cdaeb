"""
Projections, selections and updates on tuples of 500 bytes, 350 of them sensitive, as in "Design and Analysis of Querying
Encrypted Data in Relational Databases" (Canim and Kantarcioglu): mini pages against pages in counter mode, in a program of its
own; and the same queries on encrypted columns in PostgreSQL.
"""

from . import layout_columns, program, require_space, work_folder
from .claims import claim, extras, flat, proportional, quotient
from .options import whole
from .report import Report, digits
from .samples import Progress, Samples

HELP = "mini pages against pages in counter mode, and the same queries on encrypted columns"

SOURCES = ["bench/layouts/layouts.c", "bench/layouts/cipher.c", "bench/layouts/pages.c", "bench/common.c"]
TUPLES_PER_MEGABYTE = 2048
LAYOUTS = ["plain", "mini page CBC", "mini page CTR", "page CTR", "page CTR, single tuples"]
LENGTHS = [10, 50, 100, 150, 200, 250, 300, 350]
PERCENTAGES = [30, 60, 100]
ATTRIBUTES = ["sensitive", "plain"]


def add_options(parser):
    parser.add_argument("--megabytes", type=whole, default=64,
                        help="size of each layout's file of pages (the study's: 512); tables hold as many tuples")
    parser.add_argument("--rounds", type=whole, default=10, help="repetitions of each query")
    parser.add_argument("--cipher", choices=["aes128", "aes256"], default="aes128", help="cipher of all encrypted variants")


def run(options):
    # the files, nine tables, and the WAL that loading them writes
    require_space(options.megabytes * 30 / 1e3 + 5)
    tuples = options.megabytes * TUPLES_PER_MEGABYTE
    pages = run_pages(options)
    columns = layout_columns.run(tuples, options.rounds, options.cipher)
    result = Report("Layouts of encrypted tuples",
                    f"{tuples:,} tuples of 500 bytes, 350 of them sensitive. Variants take turns; {options.rounds} rounds "
                    "after one that warms up. The study prints its results on layouts as curves without figures, on a Pentium D "
                    "without AES instructions; so there are no published figures here, but its claims, each tested by the "
                    "quietest rounds.",
                    {"cipher": options.cipher, "repetitions": options.rounds} | program.versions() | columns.versions)
    report_pages(result, options, pages)
    layout_columns.report(result, columns)
    return result


def run_pages(options):
    """Samples of the C program: ns per tuple, for updates per page."""
    samples = Samples("ns")
    layouts = program.build(*SOURCES)
    rows = program.rows(layouts, work_folder("pages"), options.megabytes, options.rounds, options.cipher.removeprefix("aes"))
    progress = Progress("layouts, pages", [1] * int(next(rows)[1]))
    for workload, layout, turn, figure in rows:
        if turn != "0":
            samples.add(workload, layout, float(figure))
        progress.step(f"{workload}, {layout}")
    return samples


def projection(size):
    return f"projection of {size} bytes"


def selection(percentage, attribute):
    return f"selection of {percentage} % by a {attribute} attribute"


def report_pages(result, options, samples):
    result.note(f"""## Pages in files

{options.megabytes} MB of pages of 4 KB for each layout, read one page a call from the operating system's cache (the study read
512 MB from a disk).

* **mini page**: the sensitive bytes of a page's eight tuples stand together and are decrypted whole as soon as one is needed: in
  CBC, as the study has it, or in counter mode, by the same code as page CTR, so that only the layout differs.
* **page CTR**: they stay in their tuples, and what is asked for is decrypted, the counters of four tuples by one call (*single
  tuples*: of one). The last block of a range is floor(v/16); the study's Algorithm 3 prints ceil(v/16) - 1, which loses a block.

A selection reads an attribute of 10 bytes, sensitive as in the study or not, and all 350 bytes of the tuples that it selects. An
update encrypts the whole page under a counter never used before. The key is set once. Before the first and after the last round
all bytes are compared with the plain file's, and all counters of a file with each other; in each round, the answers.""")
    result.comparison("Pages: time per tuple (update: per page)", samples, "plain")
    result.note("## Pages: the study's claims")
    result.table(["claim", "measured; for projections, of what they take more than on plain pages", ""], claims(samples))
    result.lines("projection", "Projection: time by attribute length", "bytes of the attribute", "ns per tuple", LENGTHS,
                 {layout: [samples.median(projection(size), layout) for size in LENGTHS] for layout in LAYOUTS})
    for attribute in ATTRIBUTES:
        result.bars(f"selection_{attribute}", f"Selection by a {attribute} attribute: time by probability", "ns per tuple",
                    [f"{percentage} %" for percentage in PERCENTAGES],
                    {layout: [samples.median(selection(percentage, attribute), layout) for percentage in PERCENTAGES]
                     for layout in LAYOUTS})


def claims(samples):
    projections = [projection(size) for size in LENGTHS]
    mini = extras(samples, projections, "mini page CTR")
    page = extras(samples, projections, "page CTR")
    some, every = (quotient(samples, selection(percentage, "sensitive"), "page CTR", "mini page CTR") for percentage in (30, 100))
    single = quotient(samples, projection(10), "page CTR, single tuples", "page CTR")
    return [
        flat("mini page CBC: decryption takes the same at every length", extras(samples, projections, "mini page CBC")),
        flat("mini page CTR: the same", mini),
        proportional("page CTR: decryption takes time in proportion to the length", LENGTHS, page),
        claim("page CTR: 10 bytes take less than half of what they take on a mini page",
              f"{digits(page[0])} ns against {digits(mini[0])} ns", 0 < page[0] < mini[0] / 2),
        claim("page CTR: selecting 30 % is faster than on a mini page", f"{some:.2f} of the mini page's time", some < 1),
        claim("page CTR: selecting 100 % is slightly slower than on a mini page, by a quarter at most",
              f"{every:.2f} of the mini page's time", 1 < every <= 1.25),
        claim("page CTR: counters of four tuples a call are faster than of one, for 10 bytes",
              f"one a call takes {single:.2f} of the time", single > 1),
    ]
