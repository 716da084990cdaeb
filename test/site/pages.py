"""The pages of a site, in folders as they are here: pages.py TREE FOLDER.

GitHub shows the pages as they are.  MkDocs wants four blanks where something belongs to an item of a list, and knows no links to what is
no page: on the site an example's files stand at the end of its page, and names of other files are no links.
"""
import re
import shutil
import sys
from pathlib import Path

LANGUAGES = {".py": "python", ".js": "javascript", ".go": "go", ".java": "java", ".sql": "sql", ".yaml": "yaml", ".yml": "yaml", ".sh": "sh",
             ".xml": "xml", ".conf": "ini", "": "text"}

tree, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
pages = [path for pattern in ("*.md", "docs/**/*.md", "src/README.md", "test/README.md", "modules/*/README.md", "examples/**/*.md") for path in tree.glob(pattern)
         if "node_modules" not in path.parts]


def in_lists(text):
    """Four blanks for two or three, outside of code."""
    lines, code = [], False
    for line in text.split("\n"):
        if line.startswith("```"):
            code = not code
        lines.append(line if code else re.sub(r"^ {2,3}(?=\S)", "    ", line))
    return "\n".join(lines)


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def links(page, text, shown):
    """Of what is no page: to the file at the end of an example's page, or no link."""
    def link(match):
        label, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path = (page.parent / target.partition("#")[0]).resolve()
        if path in pages or path.suffix == ".svg":
            return match[0]
        if path.is_file() and "examples" in page.relative_to(tree).parts:
            if path not in shown:
                shown.append(path)
            return f"[{label}](#{anchor(path.name)})"
        return label
    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", link, text)


def page_text(page):
    shown = []
    parts = re.split(r"(^```.*?^```$)", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for number in range(0, len(parts), 2):
        parts[number] = links(page, re.sub(r"^<!--.*?-->\n", "", parts[number], flags=re.M | re.S), shown)
    text = in_lists("".join(parts))
    for path in shown:
        text += f"\n## {path.name}\n\n```{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text(encoding='utf-8').rstrip()}\n```\n"
    return text


for page in pages:
    copy = folder / page.relative_to(tree)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(page_text(page), encoding="utf-8")
for path in [*tree.glob("docs/**/*.svg"), tree / "test/site/site.css"]:
    copy = folder / path.relative_to(tree)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, copy)
