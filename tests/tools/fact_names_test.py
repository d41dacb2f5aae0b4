#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the causes rest upon is observed by somebody: every fact that a page
names, and every condition of a rule, is a fact of causes/facts.yaml, what a
pattern of a cause finds, or a name in the code."""
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"])
NAME = r"[a-z][a-z0-9_]*(?:\.[a-z0-9_-]+)+"


def names_in_the_code():
    names = set()
    for path in (SOURCE / "src").rglob("*"):
        if path.suffix in (".cc", ".h") and not path.stem.endswith("_test"):
            names.update(re.findall(f'"({NAME})"', path.read_text()))
    return names


def names_of_patterns():
    text = (SOURCE / "causes" / "facts.yaml").read_text()
    names = set(re.findall(rf"\{{ name: ({NAME}),", text))
    names |= {f"log.{key}" for key in re.findall(r"^(\w+):", text, re.M)}
    return names


def front_matter(path):
    return path.read_text().split("\n---\n")[0]


def named(text):
    """The facts that a front matter names, without field and value."""
    for names in re.findall(r"(?:^facts|\bwith(?:out)?): \[([^\]]*)\]", text,
                            re.M):
        for name in names.split(","):
            thing, equals, _ = name.strip().partition("=")
            yield thing.rpartition(".")[0] if equals else thing


def number_of_patterns(text):
    """How many items its lists of patterns and rules have."""
    lists = re.findall(r"^(?:direct|match|weak|hint|rules):\n((?:  .*\n)*)",
                       text, re.M)
    return sum(len(re.findall(r"^  - ", one, re.M)) for one in lists)


class FactNames(unittest.TestCase):
    def test_each_is_made_somewhere(self):
        known = names_in_the_code() | names_of_patterns()
        pages = {path: front_matter(path)
                 for path in (SOURCE / "causes").glob("*/*.md")}
        for path, text in pages.items():
            known |= {f"log.{path.stem}.{i}"
                      for i in range(number_of_patterns(text))}
        self.assertGreater(len(known), 100)
        read = [(path, name) for path, text in sorted(pages.items())
                for name in named(text)]
        self.assertGreater(len(read), 200)
        unknown = [f"{path.relative_to(SOURCE)}: {name}"
                   for path, name in read if name not in known]
        self.assertEqual(unknown, [])


if __name__ == "__main__":
    unittest.main()
