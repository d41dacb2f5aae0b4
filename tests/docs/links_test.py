#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows every link of every Markdown file: the file, and its anchor, are there.

  MUSTER_SOURCE=… tests/docs/links_test.py

Also: files that a page names in backticks exist, every page has one title, and
docs/README.md leads to every page in at most two links. No network is used.
"""
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"]).resolve()
INDEX = SOURCE / "docs" / "README.md"
MAX_LINKS = 2
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^(#{1,6}) (.+?)\s*$", re.M)
NAMED = re.compile(r"`((?:src|tests|tools|examples|bench|causes|include|docs|"
                   r"cmake)/[\w./-]*\w)/?`")
# What a page is not: texts about files of other places.
NO_PAGES = ("build", "runs", ".git", "tests", "tools")


def pages():
    return sorted(path for path in SOURCE.rglob("*.md")
                  if path.relative_to(SOURCE).parts[0] not in NO_PAGES)


def prose(path):
    text = path.read_text()
    if text.startswith("---\n"):  # front matter of a cause
        text = text.partition("\n---\n")[2]
    return COMMENT.sub("", FENCE.sub("", text))


def anchors(path):
    """The anchors of a page, as GitHub and mkdocs make them."""
    found = set()
    for _, title in HEADING.findall(prose(path)):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def links(path):
    """The files that a page links to, and what is wrong with its links."""
    targets, wrong = set(), []
    for link in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            wrong.append(f"links to {link}, which is not there")
        elif anchor and anchor not in anchors(target):
            wrong.append(f"links to {link}: that page has no such title")
        targets.add(target)
    return targets, wrong


def named_files(path):
    if path.name == "CHANGELOG.md":  # files of their time
        return []
    return [f"names `{name}`, which is not there"
            for name in NAMED.findall(prose(path))
            if not re.search("[A-Z]{3}", name) and  # LABEL: any file
            not list(SOURCE.glob(name)) and not list(SOURCE.glob(f"{name}*"))]


def reached(graph):
    """The pages that are reached from the index."""
    found = {INDEX}
    for _ in range(MAX_LINKS):
        found |= {target for page in found for target in graph.get(page, ())}
    return found


def main():
    graph, failures = {}, []
    for path in pages():
        graph[path], wrong = links(path)
        wrong += named_files(path)
        titles = len(re.findall(r"^# ", prose(path), re.M))
        if titles != 1 and path.parts[-3] != "causes":
            wrong.append(f"has {titles} titles")
        failures += [f"{path.relative_to(SOURCE)}: {one}" for one in wrong]
    if INDEX not in graph[SOURCE / "README.md"]:
        failures.append("README.md does not link to docs/README.md")
    failures += [f"{path.relative_to(SOURCE)}: more than {MAX_LINKS} links away "
                 "from docs/README.md" for path in sorted(set(graph) -
                                                          reached(graph))]
    print("\n".join(failures))
    print(f"{len(graph)} pages, {sum(map(len, graph.values()))} links, "
          f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
