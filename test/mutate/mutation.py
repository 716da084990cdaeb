"""mutation.py FILE - the mutations of that file: "list" prints them, "apply NUMBER" makes the change in the tree that one is in.

A mutation is a line "## title", a line "KIND TEST: FILE", and what in the file becomes what: "- before" and "+ after", each with the lines that
follow it.  White space counts as such, however much it is, and "before" has to be there exactly once; "after" may be empty.
"""
import pathlib
import re
import sys


def read():
    text = pathlib.Path(sys.argv[1]).read_text()
    found = []
    for block in re.split(r"^## ", text, flags=re.M)[1:]:
        match = re.fullmatch(r"(.+)\n(\w+) (\S+): (\S+)\n- (.+?)\n\+ (.*?)\s*", block, flags=re.S)
        if not match or "\n" in match[1]:
            sys.exit(f"not a mutation: {block.splitlines()[0]}")
        found.append(match.groups())
    return found


def apply(title, path, before, after):
    file = pathlib.Path(path)
    text = file.read_text()
    places = list(re.finditer(r"\s+".join(re.escape(word) for word in before.split()), text))
    if len(places) != 1:
        sys.exit(f"{title}: what is to be changed is {len(places)} times in {path}")
    file.write_text(text[:places[0].start()] + after + text[places[0].end():])


if sys.argv[2] == "list":
    for number, (title, kind, test, path, _, _) in enumerate(read()):
        print(number, kind, test, path, title, sep="\t")
else:
    title, _, _, path, before, after = read()[int(sys.argv[3])]
    apply(title, path, before, after)
