"""
Modes of AES by block size, in memory and from disk: experiments 1 to 6 of Canim and Kantarcioglu, "Design and Analysis of
Querying Encrypted Data in Relational Databases", by a C program on OpenSSL.  A full run: --mb 128 --rounds 9.
"""

import os
import statistics
import subprocess

from . import BenchError, modes_study as study, program, require_space
from .options import whole
from .report import Report, digits, verdict
from .samples import Progress, Samples

HELP = "CBC, CTR, OFB, CFB and CTR4 by block size, in memory and from disk"

SIZES = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
MODES = ["CBC", "CTR", "OFB", "CFB", "CTR4", "CTR32", "tde_column"]
BATCHED = ["CTR4", "CTR32", "tde_column"]
READING, THREADED = "reading alone", "CTR4 threaded"
PLACES = ["sequential from memory", "sequential from disk", "random from memory", "random from disk"]
WANTED = 1.05


def add_options(parser):
    parser.add_argument("--mb", type=whole, default=32, help="megabytes that each mode decrypts; the study's are 1024")
    parser.add_argument("--rounds", type=whole, default=5, help="repetitions")
    parser.add_argument("--key-bits", type=int, choices=[128, 256], default=128, help="length of the AES key; the study's is 128")


def run(options):
    require_space(4.2 * options.mb / 1000 + 0.1)
    require_memory(5.5 * options.mb / 1000 + 0.1)
    path = program.build("bench/modes/modes.c", "bench/modes/cipher.c", "bench/modes/pages.c", "bench/common.c",
                         *program.PURE_LAYER)
    scale = [options.mb, options.rounds, options.key_bits]
    # the pages first: a folder that is not on a disk is told at once
    pages = collect("modes, pages", path, ["pages", *scale, os.environ["BENCH_WORK"]], lambda runs: [1] * runs)
    blocks = collect("modes, blocks", path, ["blocks", *scale], block_costs)
    return report(options, blocks, pages)


def require_memory(gigabytes):
    """Refuse to begin what would swap."""
    try:
        available = next(line for line in open("/proc/meminfo") if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return  # not Linux: there the program tells it
    free = int(available.split()[1]) / 1e6
    if free < gigabytes:
        raise BenchError(f"{gigabytes:.1f} GB of memory are needed, and {free:.1f} GB are available; a smaller --mb needs less")


def block_costs(runs):
    """How long each run may take: what a block costs beside its bytes counts most."""
    return [1 + 500 / size for size in SIZES for _ in range(runs // len(SIZES))]


def collect(title, path, arguments, costs):
    """Run the C program; its figures in seconds, without those of round 0."""
    lines = program.rows(path, *arguments)
    progress = Progress(title, costs(int(next(lines)[1])))
    samples = Samples()
    for workload, mode, turn, seconds in lines:
        if turn != "0":
            samples.add(workload, mode, float(seconds))
        progress.step(f"{workload} {mode}")
    return samples


def part_of(blocks, keying):
    """The figures with the key set "once" or "per block"; their workload is the size."""
    result = Samples()
    for (workload, mode), figures in blocks.figures.items():
        if workload.startswith(f"key {keying} "):
            result.figures[f"{workload.split()[-1]} bytes", mode] = figures
    return result


def per_page(samples, mb):
    """Seconds for a page; random runs read half of them."""
    count = mb * 256
    result = Samples()
    for (workload, mode), figures in samples.figures.items():
        pages = count // 2 if workload.startswith("random") else count
        result.figures[workload, mode] = [figure / pages for figure in figures]
    return result


def report(options, blocks, pages):
    once, each, pages = part_of(blocks, "once"), part_of(blocks, "per block"), per_page(pages, options.mb)
    result = Report("Modes of AES", method(options), program.versions() | {
        "instructions": instructions(), "pages are in": disk(), "repetitions": options.rounds})
    fastest_table(result, once)
    differences(result, once, each, pages)
    block_tables(result, once, each, options.mb)
    key_table(result, once, each)
    page_tables(result, pages)
    return result


def method(options):
    return (f"AES-{options.key_bits} by OpenSSL's EVP in contexts made once; {options.mb} MB are decrypted, the direction of a "
            f"query that reads. Every block has an IV of its own. {options.rounds} rounds after one that warms up, in which "
            "every byte is compared with its plaintext; the modes take turns. Ratios are those within a round.\n\n"
            "* *CBC, CTR, OFB, CFB*: OpenSSL's modes, one call that sets the IV and one that decrypts, for each block.\n"
            "* *CTR4*: four counters are encrypted by one call of ECB, and xored to the data, as in the study. *CTR32*: the same "
            "with 32 counters for a call.\n"
            "* *tde_column*: the counter mode of encrypted columns (`tde_cipher_ctr()`), for any counter and size: up to 1 KB all "
            "counters by one call of ECB, and OpenSSL's CTR from there on. It wipes its key stream. It never sets a key for a value.\n"
            "* *copy*: the blocks are copied.\n\n"
            "Published: seconds for 1 GB on a Pentium D of 2.8 GHz, OpenSSL of 2006, AES in software; their ratios are compared.")


def instructions():
    """Those that decide how fast AES and xor are here."""
    try:
        flags = next(line for line in open("/proc/cpuinfo") if line.startswith(("flags", "Features"))).split()
    except (OSError, StopIteration):
        return "unknown"
    found = [flag for flag in ("aes", "vaes", "avx2", "avx512f") if flag in flags]
    return ", ".join(found) or "none for AES"


def disk():
    """The device and the kind of file system of the temporary folder."""
    answer = subprocess.run(["df", "--output=source,fstype", os.environ["BENCH_WORK"]], capture_output=True, text=True)
    return ", ".join(answer.stdout.splitlines()[-1].split()) if answer.returncode == 0 else "unknown"


def ratio(mine, base):
    """The median of the ratios within a round."""
    return statistics.median(one / other for one, other in zip(mine, base))


def fastest_table(result, once):
    result.note("## The fastest mode, and counter mode in batches\n\n"
                f"Key set once. Wanted: tde_column, what has become of CTR4 here, within {100 * WANTED - 100:.0f} % of the fastest; "
                f"the study's fastest mode was CTR4 at every size.")
    rows = []
    for size in once.workloads():
        best = min(MODES, key=lambda mode: once.median(size, mode))
        ratios = {mode: once.ratios(size, mode, best) for mode in BATCHED}
        texts = [f"{statistics.median(figures):.2f} ({min(figures):.2f} .. {max(figures):.2f})" for figures in ratios.values()]
        rows.append([size, best, *texts, *verdict(statistics.median(ratios["tde_column"]), WANTED, False)])
    result.table(["block", "fastest", *(f"{mode} / fastest" for mode in BATCHED), "tde_column wanted", ""], rows)


def differences(result, once, each, pages):
    """What is not as in 2006, with the figures that show it."""
    small, large = "16 bytes", "8192 bytes"
    to_ctr = {mode: once.ratio(large, mode, "CTR") for mode in MODES}
    page = {mode: pages.median("random from memory", mode) * 1e6 for mode in (READING, "CTR4", THREADED)}
    result.note(
        "### What differs from 2006\n\n"
        "A Pentium D spent some 370 ns on each block of AES in software, so the modes, all with one AES for 16 bytes, differed "
        "by at most 20 %, and the cost of calls was hardly seen. With AES instructions a block takes a few ns if several are "
        "under way at a time, as in CTR and in decryption of CBC; OFB cannot do that, and OpenSSL's CFB does not: at 8192 bytes "
        f"they take {to_ctr['OFB']:.1f} and {to_ctr['CFB']:.1f} times as long as CTR.\n\n"
        "At small blocks the calls are what costs: EVP takes much longer to set an IV than AES takes, and CTR4 sets none. At 16 "
        f"bytes CTR takes {once.ratio(small, 'CTR', 'CTR4'):.1f} times as long as CTR4 (published "
        f"{study.relative(study.ONCE, 16, 'CTR', 1):.2f}). Setting a key makes CTR4 "
        f"{ratio(each.of(small, 'CTR4'), once.of(small, 'CTR4')):.1f} times as slow there (published "
        f"{study.key_ratio(16, 'CTR4'):.2f}).\n\n"
        f"At large blocks four counters for a call do not fill the pipeline: at 8192 bytes CTR4 takes {to_ctr['CTR4']:.2f} times "
        f"as long as CTR, CTR32 {to_ctr['CTR32']:.2f} times. CTR32 goes over the key stream three times (counters, AES, xor), "
        "where OpenSSL's CTR and CBC keep it in registers; the smaller the blocks, the more does the IV that it does not set "
        "outweigh that. So encrypted columns take each where it is faster; what they "
        "take longer than CTR32 in between is for any counter, not only multiples of 32, and for zeros written over the key stream.\n\n"
        f"Decrypting a page by CTR4 takes {page['CTR4'] - page[READING]:.1f} µs beside "
        f"{pages.median('random from disk', READING) * 1e6:.0f} µs for a random read from disk. No more than that can a second "
        f"thread hide (published: {100 * study.RANDOM_SHARE:.0f} % of the time), and to take its key stream from it costs "
        f"{page[THREADED] - page[READING]:.1f} µs with the page in memory.")


def block_tables(result, once, each, mb):
    for title, samples, known in [("Key set once", once, study.ONCE), ("Key set for each block", each, study.EACH)]:
        published = {(f"{size} bytes", mode): f"{seconds / figures['CTR4']:.2f}" for size, figures in known.items()
                     for mode, seconds in figures.items()}
        result.comparison(title, samples, "CTR4", published=published, scale=1e6 / mb, unit="µs per MB")
    series = {mode: [once.median(f"{size} bytes", mode) * 1e6 / mb for size in SIZES] for mode in MODES}
    marks = {mode: [study.relative(study.ONCE, size, mode, ours) for size, ours in zip(SIZES, series["CTR4"])]
             for mode in study.MODES if mode != "CTR4"}
    result.lines("block-size", "Time by block size, key set once; published scaled to our CTR4", "bytes of a block", "µs per MB",
                 SIZES, series, marks=marks, logx=True, log=True)


def key_table(result, once, each):
    modes = [mode for mode in MODES if (f"{SIZES[0]} bytes", mode) in each.figures]
    ratios = {mode: [ratio(each.of(f"{size} bytes", mode), once.of(f"{size} bytes", mode)) for size in SIZES] for mode in modes}
    result.note("## Setting the key for each block / once\n\nPublished in brackets.")
    result.table(["block", *modes],
                 [[f"{size} bytes", *(f"{ratios[mode][place]:.2f}{study.key_text(size, mode)}" for mode in modes)]
                  for place, size in enumerate(SIZES)])
    result.lines("key-setup", "Key set for each block / key set once", "bytes of a block", "ratio", SIZES, ratios, logx=True,
                 marks={mode: [study.key_ratio(size, mode) for size in SIZES] for mode in study.MODES})


def page_tables(result, pages):
    variants = [READING, *MODES, THREADED]
    result.comparison("Pages of 4 KB", pages, READING, scale=1e6, unit="µs per page")
    result.note("Each page is read by one `pread()`. From memory: from a file that the page cache holds. From disk: the kernel "
                "was told to forget the file (`POSIX_FADV_DONTNEED`) and says that it did; sequential reads have its readahead, "
                "random ones, of half of the pages, have none. A disk's or a hypervisor's own cache is not emptied. In *CTR4 "
                "threaded* a second thread computes the key stream while the first one reads.\n\n## Pages, relative to "
                "CTR4\n\nPublished in brackets.")
    rows = [[place, *(f"{pages.ratio(place, mode, 'CTR4'):.2f}{study.page_text(place, mode)}" for mode in variants)]
            for place in PLACES]
    for order in ("sequential", "random"):
        ratios = {mode: ratio(pages.of(f"{order} from disk", mode), pages.of(f"{order} from memory", mode)) for mode in variants}
        texts = [digits(figure) + study.disk_text(order, mode) for mode, figure in ratios.items()]
        rows.append([f"{order}: disk / memory", *texts])
    result.table(["", *variants], rows)
    result.bars("pages", "Pages of 4 KB; published scaled to our CTR4", "µs per page", PLACES,
                {mode: [pages.median(place, mode) * 1e6 for place in PLACES] for mode in variants}, log=True,
                marks={(place, mode): seconds / known["CTR4"] * pages.median(place, "CTR4") * 1e6
                       for place, known in study.PAGES.items() for mode, seconds in known.items() if mode != "CTR4"},
                spread={(place, mode): [limit(pages.of(place, mode)) * 1e6 for limit in (min, max)]
                        for mode in variants for place in PLACES})
