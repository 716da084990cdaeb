# report.awk - a table of drivers and kinds of checks, from the TAP files that are named after a driver and a mode.

# ok 1 - psycopg3 binary select: numeric
function count(row, line, label, words, word) {
	while ((getline line < (tap row)) > 0)
		if (line ~ /^(not )?ok [0-9]+ - /) {
			label = line
			sub(/: .*/, "", label)
			words = split(label, word, " ")
			total[row, word[words]]++
			good[row, word[words]] += line ~ /^ok/
		}
}

BEGIN {
	kinds = split("select null where write array copy metadata cursor transaction", kind)
	printf "%-20s", "driver, transparent"
	for (k = 1; k <= kinds; k++)
		printf " %11s", kind[k]
	printf "\n"
	split(drivers, driver, " ")
	split(modes, mode, " ")
	for (d = 1; d in driver; d++)
		for (m = 1; m in mode; m++) {
			row = driver[d] " " mode[m]
			count(row)
			printf "%-20s", row
			for (k = 1; k <= kinds; k++) {
				cell = row SUBSEP kind[k]
				printf " %11s", (cell in total) ? good[cell] "/" total[cell] : "-"
			}
			printf "\n"
		}
}
