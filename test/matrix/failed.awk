# failed.awk - the files that prove says have failed, and what a script says of them, in a line; without one, the last line.

/\(Wstat: / { file = $1 }
/\(Wstat: ([1-9]|.*Failed: [1-9])/ || /^  Parse errors/ { if (!(file in seen)) names = names " " file; seen[file] = 1 }
/^FAILED: / { names = names " " substr($0, 9) }
/[^ ]/ { last = $0 }
END { print names == "" ? last : substr(names, 2) }
