# report.awk - the demo's table, from lines "script variant microseconds": one for each script and variant in each round.
# With -v rounds=N, -v sizes="variant bytes variant bytes ...", -v oracle="variant insert update select ...".

function median(a, n,    i, j, x) {
  for (i = 2; i <= n; i++) {
    x = a[i]
    for (j = i - 1; j > 0 && a[j] > x; j--) a[j + 1] = a[j]
    a[j + 1] = x
  }
  return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
}

function tps(script, variant,    r, a) {
  for (r = 1; r <= rounds; r++) a[r] = 1000000 / time[script, variant, r]
  return median(a, rounds)
}

# Each round is compared with plain in the same round.
function percent(script, variant, r) { return 100 * (time[script, variant, r] / time[script, "plain", r] - 1) }

function overhead(script, variant,    r, a) {
  for (r = 1; r <= rounds; r++) a[r] = percent(script, variant, r)
  return median(a, rounds)
}

# How far half of the rounds stray, at most, from the overhead shown.
function spread(script, variant,    r, a, d) {
  for (r = 1; r <= rounds; r++) {
    d = percent(script, variant, r) - overhead(script, variant)
    a[r] = d < 0 ? -d : d
  }
  return median(a, rounds)
}

{ time[$1, $2, ++count[$1, $2]] = $3 }

END {
  n = split(sizes, word, " ")
  for (i = 1; i < n; i += 2) size[word[i]] = word[i + 1]
  n = split(oracle, word, " ")
  for (i = 1; i < n; i += 4)
    for (k = 1; k <= 3; k++) ratio[k, word[i]] = word[i + k]
  split("insert update select", script, " ")
  order = "plain plain_again 3des168_salt 3des168_nosalt aes128_salt aes128_nosalt aes192_salt aes192_nosalt aes256_salt aes256_nosalt"
  n = split(order, variant, " ")

  print "                  ------- insert --------  ------- update --------  ----- select by id ----  bytes"
  print "                     tps    over-  Oracle     tps    over-  Oracle     tps    over-  Oracle   per"
  print "                             head                     head                     head           row"
  for (i = 1; i <= n; i++) {
    v = label = variant[i]
    sub("_", " ", label)
    line = sprintf("%-16s", label)
    for (k = 1; k <= 3; k++) {
      line = line sprintf(" %7.0f", tps(script[k], v))
      line = line (v == "plain" ? "        -" : sprintf("%+7.1f %%", overhead(script[k], v)))
      line = line ((k, v) in ratio ? sprintf("  %+4.0f %%", 100 * (ratio[k, v] - 1)) : "       -") " "
    }
    print line sprintf("%5d", size[v])
  }
  print ""
  print  "Noise: \"plain again\" is the same table once more in each round. From round to round the overheads"
  printf "shown for it stray by %.1f, %.1f and %.1f points (half of the rounds by less, half by more).\n", \
    spread("insert", "plain_again"), spread("update", "plain_again"), spread("select", "plain_again")
}
