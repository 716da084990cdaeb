# report.awk - a table of drivers and kinds of checks, and one of ORMs, from the TAP files that are named after a driver and a mode.

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

function table(title, drivers, modes, names, kinds, kind, driver, mode, d, m, k, row, cell) {
	if (drivers == "")
		return
	kinds = split(names, kind, " ")
	printf "%-20s", title
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

BEGIN {
	table("driver, transparent", drivers, modes, "select null where write array copy metadata cursor transaction search")
	table("ORM, transparent", orms, "on", "select null where write relation page aggregate transaction metadata migrate")
}
