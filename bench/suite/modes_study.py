"""What Canim and Kantarcioglu measured: seconds for 1 GB (random pages: 512 MB) on a Pentium D, AES-128."""

MODES = ["CBC", "CTR", "OFB", "CFB", "CTR4"]


def by_mode(*seconds):
    return dict(zip(MODES, seconds))


# block size -> seconds; of sizes that are not here only ranges are known
ONCE = {16: by_mode(24.98, 26.19, 27.09, 25.64, 23.02), 8192: by_mode(23.25, 25.56, 26.39, 25.41, 22.30)}
EACH = {16: by_mode(49.27, 50.77, 50.50, 50.84, 47.91), 64: by_mode(30.44, 32.13, 31.41, 31.53, 29.16),
        8192: by_mode(23.53, 25.84, 25.14, 25.42, 22.75)}
# block size -> the range over the modes of the time with the key set for each block over that with the key set once
KEY_RANGES = {64: "1.18 .. 1.28", 128: "1.08 .. 1.14", 1024: "0.95 .. 1.03", 2048: "0.95 .. 1.03", 4096: "0.95 .. 1.03"}
PAGES = {
    "sequential from memory": by_mode(29.02, 31.17, 30.92, 30.89, 27.89),
    "sequential from disk": by_mode(28.91, 31.94, 30.5, 31.05, 27.31) | {"CTR4 threaded": 28.05},
    "random from memory": by_mode(15.7, 16.73, 16.38, 16.52, 15.03),
    # threaded: 257.3 beside 266.1 s, which is the mean of the others
    "random from disk": by_mode(262.63, 262, 271.94, 266.3, 267.64) | {"CTR4 threaded": 257.3},
}
# of the time of random reads from disk: 11.2 s of decryption
RANDOM_SHARE = 11.2 / 266.1


def relative(table, size, mode, scale):
    """The ratio to CTR4 at this block size times scale, or None."""
    return table[size][mode] / table[size]["CTR4"] * scale if size in table else None


def key_ratio(size, mode):
    return EACH[size][mode] / ONCE[size][mode] if size in EACH and size in ONCE else None


def key_text(size, mode):
    if mode not in MODES:
        return ""
    ratio = key_ratio(size, mode)
    return f" ({ratio:.2f})" if ratio else f" ({KEY_RANGES[size]})" if size in KEY_RANGES else ""


def page_text(place, mode):
    known = PAGES[place]
    return f" ({known[mode] / known['CTR4']:.2f})" if mode in known else ""


def disk_text(order, mode):
    disk, memory = PAGES[f"{order} from disk"], PAGES[f"{order} from memory"]
    return f" ({disk[mode] / memory[mode]:.2f})" if mode in disk and mode in memory else ""
