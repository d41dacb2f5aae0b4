# SPDX-License-Identifier: Apache-2.0
"""Files that a compiler may read as one: a name that one file keeps to itself
and another one also uses so keeps the two apart.
"""
import re

NAMESPACE = re.compile(r"^namespace (muster[\w:]*) \{", re.M)
OWN = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.S | re.M)
DEFINED = re.compile(r"^(?:class|struct|enum class|using) (\w+)"
                     r"|^[^\s/#}].*?\b(k?[A-Z]\w*)(?:\(|\[|\{| =|;)", re.M)
# Defined for many types: one of a file's own would hide the others.
HIDES = re.compile(r"\bTo[A-Z]\w*")


class Unit:
    """Files that are read together."""

    def __init__(self):
        self.files = []
        self.own, self.used, self.hiding = set(), set(), set()

    def take(self, path, most):
        """False when the file does not go with those that are in it."""
        text = path.read_text()
        names = {name for part in OWN.findall(text)
                 for found in DEFINED.findall(part) for name in found if name}
        place = NAMESPACE.search(text)
        own = {(place and place[1], name) for name in names}
        used = set(HIDES.findall(text))
        hiding = set(filter(HIDES.match, names))
        if (len(self.files) == most or own & self.own
                or hiding & self.used or used & self.hiding):
            return False
        self.files.append(path)
        self.own |= own
        self.used |= used
        self.hiding |= hiding
        return True


def united(paths, most):
    """Lists of the files that go together, no more than `most` in one."""
    units = []
    for path in paths:
        if not any(unit.take(path, most) for unit in units):
            units.append(Unit())
            units[-1].take(path, most)
    return [unit.files for unit in units]
