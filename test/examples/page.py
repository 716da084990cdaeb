"""The commands of an example's page, and what they print.

page.py script README.md          a shell script of its ```sh blocks, each between two marks
page.py compare README.md OUTPUT  whether that script's output is what the ```text blocks below them show; "..." stands for anything
"""
import re
import sys
from pathlib import Path


def blocks(page):
    """(code, what it prints or None)"""
    text = Path(page).read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```$(?:\n^```text\n(.*?)^```$)?", text, re.M | re.S)


def script(page):
    for number, (code, _) in enumerate(blocks(page)):
        print(f"echo '@begin {number}'\n{code}echo '@end {number}'")


def compare(page, output):
    # Maven ends with a colour of no text; psql fills its lines up
    said = re.sub(r"\x1b\[[0-9;]*m| +$", "", Path(output).read_text(encoding="utf-8"), flags=re.M)
    wrong = 0
    for number, (code, shown) in enumerate(blocks(page)):
        found = re.search(rf"^@begin {number}\n(.*?)^@end {number}$", said, re.M | re.S)
        if not found:
            print(f"this did not run to its end:\n{code}")
            return 1
        pattern = r".*?".join(map(re.escape, shown.rstrip("\n").split("...")))
        if shown and not re.fullmatch(pattern, found.group(1).rstrip("\n"), re.S):
            print(f"this command:\n{code}printed:\n{found.group(1)}and the page shows:\n{shown}")
            wrong = 1
    return wrong or not blocks(page)


if sys.argv[1] == "script":
    script(sys.argv[2])
else:
    sys.exit(compare(*sys.argv[2:]))
