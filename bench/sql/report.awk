# report.awk - the table of bench/sql.sh and bench/queries.sh from psql's output: "statement NAME VARIANT ROUND" and "Time: MS
# ms" lines; of a statement that runs several times in a round the shortest time counts.  With -v targets='NAME VARIANT RATIO,
# ...' those instead of the table; the exit status is 1 if one is missed.

function sort(a, n,    i, j, x) {
  for (i = 2; i <= n; i++) {
    x = a[i]
    for (j = i - 1; j > 0 && a[j] > x; j--) a[j + 1] = a[j]
    a[j + 1] = x
  }
}

# What a round's ratios to plain are: sets low, middle, high.
function ratios(name, variant,    r, a) {
  for (r = 1; r <= rounds; r++) a[r] = ms[name, variant, r] / ms[name, "plain", r]
  sort(a, rounds)
  low = a[1]
  high = a[rounds]
  middle = rounds % 2 ? a[(rounds + 1) / 2] : (a[rounds / 2] + a[rounds / 2 + 1]) / 2
}

function milliseconds(name, variant,    r, a) {
  for (r = 1; r <= rounds; r++) a[r] = ms[name, variant, r]
  sort(a, rounds)
  return a[int((rounds + 1) / 2)]
}

function target(name, variant, limit) {
  ratios(name, variant)
  printf "%-12s %-7s %5.2f  target %4.2f  %s\n", name, variant, middle, limit, middle <= limit ? "PASS" : "MISS"
  if (middle > limit) missed = 1
}

$1 == "statement" {
  name = $2; variant = $3; round = $4
  if (!(name in named)) { named[name] = 1; names[++n] = name }
  if (!(variant in seen)) { seen[variant] = 1; order[++variants] = variant }
}
$1 == "Time:" && name {
  if (!((name, variant, round) in ms) || $2 < ms[name, variant, round]) ms[name, variant, round] = $2
  name = ""
}

END {
  if (targets) {
    n = split(targets, list, / *, */)
    for (i = 1; i <= n; i++) {
      split(list[i], part, " ")
      target(part[1], part[2], part[3])
    }
    exit missed
  }
  printf "%-12s %-8s %9s %8s %17s\n", "statement", "columns", "ms", "ratio", "(lowest, highest)"
  for (i = 1; i <= n; i++)
    for (k = 1; k <= variants; k++) {
      ratios(names[i], order[k])
      printf "%-12s %-8s %9.1f %8.2f     (%.2f, %.2f)\n", names[i], order[k], milliseconds(names[i], order[k]), middle, low, high
    }
}
