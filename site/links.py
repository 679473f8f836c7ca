"""Whether every link within a built site leads somewhere, and no page shows marks of Markdown as text.

    links.py FOLDER
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Links(html.parser.HTMLParser):
    """What a page links to, and the places in it that can be linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            if value and name in ("id", "name"):
                self.places.add(value)


def read(page: pathlib.Path) -> Links:
    """The links of a page."""
    links = Links()
    links.feed(page.read_text(errors="replace"))
    return links


def broken(folder: pathlib.Path) -> list[str]:
    """Each link that leads nowhere, with its page."""
    pages = {page.resolve(): read(page) for page in folder.rglob("*.html")}
    found = []
    for page, links in pages.items():
        for link in links.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = urllib.parse.unquote(parts.path)
            beside = folder if path.startswith("/") else page.parent
            to = (beside / path.lstrip("/")).resolve() if path else page
            to = to / "index.html" if to.is_dir() else to
            place = urllib.parse.unquote(parts.fragment)
            there = to in pages and (not place or place in pages[to].places)
            if not (there or (to not in pages and to.is_file())):
                found.append(f"{page.relative_to(folder.resolve())}: {link}")
    print(f"links: {len(pages)} pages, {sum(len(links.links) for links in pages.values())} links, {len(found)} broken")
    return found


def unread(folder: pathlib.Path) -> list[str]:
    """Pages with a fence that the generator took for text."""
    pages = [page for page in folder.rglob("*.html") if "```" in page.read_text(errors="replace")]
    return [f"{page.relative_to(folder)}: shows ``` as text" for page in pages]


if __name__ == "__main__":
    missing = broken(pathlib.Path(sys.argv[1])) + unread(pathlib.Path(sys.argv[1]))
    print("\n".join(missing), end="\n" if missing else "")
    sys.exit(bool(missing))
