# report.awk - the table of bench/sql.sh from psql's output: "statement NAME VARIANT ROUND" and "Time: MS ms" lines.
# With -v check=1 the targets instead of the table; the exit status is 1 if one is missed.

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

$1 == "statement" { name = $2; variant = $3; round = $4; if (!(variant in seen)) { seen[variant] = 1; order[++variants] = variant } }
$1 == "Time:" && name { ms[name, variant, round] = $2; name = "" }

END {
  if (check) {
    target("avg_length", "nomac", 2.2)
    target("avg_length", "mac", 4.2)
    target("count", "nomac", 1.2)
    target("count", "mac", 1.2)
    target("copy", "nomac", 1.5)
    target("copy", "mac", 2.0)
    exit missed
  }
  n = split("avg_length count copy copy_out", names, " ")
  printf "%-12s %-8s %9s %8s %17s\n", "statement", "columns", "ms", "ratio", "(lowest, highest)"
  for (i = 1; i <= n; i++)
    for (k = 1; k <= variants; k++) {
      ratios(names[i], order[k])
      printf "%-12s %-8s %9.1f %8.2f     (%.2f, %.2f)\n", names[i], order[k], milliseconds(names[i], order[k]), middle, low, high
    }
}
