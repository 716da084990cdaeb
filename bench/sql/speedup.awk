# speedup.awk - how much faster workers make each variant, from the lines that report.awk reads: the median time of the statement
# "alone" over that of "together".  The exit status is 1 if a variant gains less than 0.9 of what plain gains.

function median(name, variant,    r, a, i, j, x) {
  for (r = 1; r <= rounds; r++) a[r] = ms[name, variant, r]
  for (i = 2; i <= rounds; i++) {
    x = a[i]
    for (j = i - 1; j > 0 && a[j] > x; j--) a[j + 1] = a[j]
    a[j + 1] = x
  }
  return rounds % 2 ? a[(rounds + 1) / 2] : (a[rounds / 2] + a[rounds / 2 + 1]) / 2
}

$1 == "statement" {
  name = $2; variant = $3; round = $4
  if (!(variant in seen)) { seen[variant] = 1; order[++variants] = variant }
}
$1 == "Time:" && name { ms[name, variant, round] = $2; name = "" }

END {
  for (k = 1; k <= variants; k++) {
    gain = median(alone, order[k]) / median(together, order[k])
    if (k == 1) plain = gain
    good = gain >= 0.9 * plain
    printf "%-12s %-7s %5.2f  target %4.2f  %s\n", "speed-up", order[k], gain, 0.9 * plain, good ? "PASS" : "MISS"
    if (!good) missed = 1
  }
  exit missed
}
