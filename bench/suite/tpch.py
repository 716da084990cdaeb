"""
TPC-H on encrypted tables: load, storage and Q1 to Q5 without and with keys, beside plain and pgcrypto, as in a study of
PostgreSQL with pgcrypto; and Q1 with and without AES instructions, as in "Real World Database Encryption Performance with
Intel AES-NI".
"""

import os
import platform
from pathlib import Path

from . import BenchError, note, require_space
from .options import positive, some_of, whole
from .report import Report
from .server import Server
from .tpch_data import GENERATOR, Data, has_keys
from .tpch_load import (Loader, fill, measure_load, measure_pgp, measure_storage, report_load, report_pgp, report_storage)
from .tpch_queries import analyze, measure_instructions, measure_queries, report_instructions, report_queries
from .tpch_schema import Q1_VARIANTS, SENSITIVE, VARIANTS, PgcryptoByCiphertext

HELP = "TPC-H: load, storage and queries, beside pgcrypto"

SMALL = ["--scale", "0.01"]
PARTS = ["load", "storage", "queries", "aesni"]
# medians of five repetitions (the load: three)
PEERS = [["load by COPY", "9.69", "8.66"], ["storage", "2.05", "2.26"], ["Q1", "16.69", "16.71"], ["Q3", "18.82", "19.56"]]


def add_options(parser):
    parser.add_argument("--scale", type=positive, default=0.1, metavar="SF",
                        help="TPC-H's scale factor; Q2 without keys grows with its square")
    parser.add_argument("--rounds", type=whole, default=5, help="runs of each query, and of each load by COPY")
    parser.add_argument("--inserts", type=whole, default=1, help="repetitions of each load by INSERT, which takes long")
    parser.add_argument("--parts", type=some_of(PARTS), default=PARTS, metavar="LIST", help=f"of {','.join(PARTS)}")
    others = list(VARIANTS)[1:]
    parser.add_argument("--variants", type=some_of(others), default=others, metavar="LIST", help=f"of {','.join(others)}")
    parser.add_argument("--data", type=Path, metavar="FOLDER",
                        help="where TPC-H's files are kept for the next run, and taken from if they are there")


def run(options):
    variants = [variant for name, variant in VARIANTS.items() if name == "plain" or name in options.variants]
    kept = options.data and Path(os.environ["BENCH_CALLER"], options.data)
    check(options)
    data = Data(options.scale, kept)
    with Server() as server:
        report = new_report(options, variants, server.versions())
        loader = Loader(server, data)
        if {"load", "storage", "queries"} & set(options.parts):
            run_tables(options, variants, loader, report)
        if "aesni" in options.parts and platform.machine() == "x86_64":
            run_instructions(options, loader, report)
        elif "aesni" in options.parts:
            report.note("Q1 without AES instructions was not measured: OpenSSL's can be switched off on x86 only.")
        report.note("## Measured earlier\n\nRatios to plain at scale 0.1 for lineitem, orders and customer, without keys, all "
                    "columns encrypted; PostgreSQL 15, Xeon with AES-NI.")
        report.table(["", "pgcrypto, raw AES", "column_encrypt 4.0"], PEERS)
    return report


def check(options):
    """What would fail later."""
    if not has_keys(options.scale):
        raise BenchError(f"at scale {options.scale:g} TPC-H's primary keys are not unique; 0.01, 0.02, or 0.03 and more will do")
    # all is there at once: files, statements, ten sets of tables of 1.4 to 6.7 GB for scale 1, and WAL
    require_space(options.scale * 50 + 6)


def new_report(options, variants, versions):
    names = {
        "plain": "PostgreSQL's own types",
        "salt-gcm": "all columns, `aes256,salt,gcm`",
        "salt-mac": "all columns, `aes256,salt,sha1`",
        "nosalt-nomac": "all columns, `aes256,nosalt,nomac`",
        "sensitive": f"`aes256,salt,sha1` for {', '.join(sorted(SENSITIVE))}",
        "pgcrypto": "raw AES-256, zero IV, no MAC, all columns `bytea`",
    }
    described = "\n".join(f"* **{variant.name}**: {names[variant.name]}" for variant in variants)
    return Report("TPC-H", f"Scale factor {options.scale:g}, data of {GENERATOR}. The variants take turns after a round that "
                  f"warms up; a ratio is to a run of plain just before. One process, nothing parallel.\n\n{described}",
                  versions | {"repetitions": f"{options.rounds} of queries and COPY, {options.inserts} of INSERT"})


def run_tables(options, variants, loader, report):
    """The parts that want the variants' tables."""
    key_choices = (False, True)
    if "load" in options.parts:
        report_load(report, loader, variants, measure_load(loader, variants, options.rounds, options.inserts))
        report_pgp(report, loader.data, measure_pgp(loader.server, options.rounds))
    else:
        fill(loader, variants, key_choices)
    if "storage" in options.parts:
        report_storage(report, measure_storage(loader.server, variants, key_choices))
    if "queries" in options.parts:
        note("analyzing the tables")
        analyze(loader.server, variants, key_choices)
        askers = variants + [PgcryptoByCiphertext()] * ("pgcrypto" in options.variants)
        report_queries(report, *measure_queries(loader.server, askers, options.rounds), askers)


def run_instructions(options, loader, report):
    for variant in Q1_VARIANTS:
        loader.load(variant, tables=("lineitem",))
    analyze(loader.server, Q1_VARIANTS, (False,))
    report_instructions(report, *measure_instructions(loader.server, options.rounds))
