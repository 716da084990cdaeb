# rows.awk - of what test/check says: SERVER|PART|TESTS|SECONDS|RESULT of each of the wanted parts, and what failed in it.
#
#   awk -v server=17 -v wanted='regress tap' -f rows.awk LOG

/^check: [a-z]+$/ { part = $2 }
match($0, /^Files=[0-9]+, Tests=[0-9]+/) { split($0, field, /[=,]/); tests[part] += field[4] }
# PostgreSQL 15 writes these lines without a #
part == "regress" && /^[# ]*(All [0-9]+|[0-9]+ of [0-9]+) tests (passed|failed)/ { sub(/ tests .*/, ""); tests[part] = $NF }
part == "regress" && /^not ok/ { name(part, $5) }
part == "regress" && /^test .* FAILED/ { name(part, $2) }
# the summary of prove
/\(Wstat: / { file = $1 }
/\(Wstat: ([1-9]|.*Failed: [1-9])/ || /^  Parse errors/ { name(part, file) }
/test\/t\/054_update\.pl \.+ .* ms / { update = $0 }
/^check: [a-z]+ (ok|FAILED)/ { summary = substr($0, 8) }

function name(part, test) {
  sub(/.*\//, "", test)
  if (index(failures[part] " ", " " test " ") == 0)
    failures[part] = failures[part] " " test
}

END {
  n = split(summary, results, /, /)
  for (i = 1; i <= n; i++) {
    split(results[i], word, " ")
    result[word[1]] = word[2]
    seconds[word[1]] = results[i]
    gsub(/.*\(| s\).*/, "", seconds[word[1]])
  }
  n = split(wanted, parts, " ")
  for (i = 1; i <= n; i++) {
    part = parts[i]
    if (part == "update") {
      failed = failures["tap"] " "
      sub(/ ms .*/, "", update)
      sub(/.* /, "", update)
      row(part, 1, update / 1000, update == "" || index(failed, " 054_update.pl ") ? "FAILED" : "ok")
    } else if (part ~ /^(build|unit|regress|pgtap|tap)$/)
      row(part, tests[part], seconds[part], result[part] == "" ? "FAILED: it did not come to this" : result[part] failures[part])
  }
}

function row(part, tests, seconds, result) { printf "%s|%s|%d|%d|%s\n", server, part, tests, seconds, result }
