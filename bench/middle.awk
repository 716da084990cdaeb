# middle.awk - the time of each of pgbench's scripts: the mean of the middle half of its transactions (by time), so that pauses
# do not count.  Input: the log of pgbench --log, sorted with -k4,4n -k3,3n.  With -v names='NAME ...', of the scripts in the
# order of pgbench's options.  Output: "NAME MICROSECONDS" for each.

function middle(    i, from, sum) {
  from = int(n / 4)
  for (i = from + 1; i <= n - from; i++) sum += us[i]
  print name[script + 1], sum / (n - 2 * from)
}

BEGIN { split(names, name, " ") }

# In a line of this log, field 3 is the time in microseconds, and field 4 the number of the script.
NR > 1 && $4 != script { middle(); n = 0 }
{ script = $4; us[++n] = $3 }

END { middle() }
