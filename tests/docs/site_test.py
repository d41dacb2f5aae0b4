#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site and the C++ API build without a warning, and load nothing from
elsewhere. Skipped without tools/packages-docs.txt."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"])
LOADED = re.compile(r"<(?:script|link|img)\b[^>]*(?:src|href)=\"https?:[^>]*>")


def main():
    for program in ("mkdocs", "doxygen"):
        if shutil.which(program) is None:
            print(f"skipped: {program} is not installed: "
                  "tools/setup.sh tools/packages-docs.txt")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["/usr/bin/python3", SOURCE / "tools" / "docs_site.py",
                        folder], check=True)
        pages = list(pathlib.Path(folder).rglob("*.html"))
        failures = [f"{page.relative_to(folder)} loads {found}"
                    for page in pages
                    for found in LOADED.findall(page.read_text())]
        for needed in ("index.html", "search/search_index.json",
                       "api/index.html", "docs/tutorial/survive-a-kill.html",
                       "causes/rendezvous/peer-died.html"):
            if not pathlib.Path(folder, needed).exists():
                failures.append(f"there is no {needed}")
    print("\n".join(failures))
    print(f"{len(pages)} pages, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
