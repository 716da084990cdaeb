# update.awk - makes of the parts of the install script the statements that may be run again in an update: functions, procedures, views
# and comments, which are replaced; and what a line "-- new in VERSION" marks, in the update to that version.  What they make otherwise,
# an update in updates/ changes itself.
#
# A statement begins at the start of a line.  It ends with the dollar quote that it opens, with END if it is BEGIN ATOMIC, and else with
# the next line that ends in a semicolon.
ends == "" {
  if (/^-- new in /) marked = $4 == version
  if (/^(--|$)/) next
  keep = marked || /^COMMENT ON / || sub(/^CREATE (FUNCTION|PROCEDURE|VIEW) /, "CREATE OR REPLACE &") && sub(/REPLACE CREATE /, "REPLACE ")
  marked = 0
  ends = ";$"
}
{
  if (ends == ";$" && match($0, /(AS|DO) \$[a-z_]*\$$/)) {
    ends = "^" substr($0, RSTART + 3, RLENGTH - 3) ";$"
    gsub(/\$/, "[$]", ends)
    sub(/\[\$\]$/, "$", ends)
  } else if (/^BEGIN ATOMIC$/)
    ends = "^END;$"
  if (keep) print
  if ($0 ~ ends) ends = ""
}
