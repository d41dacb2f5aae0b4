#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation as a static site: the pages with mkdocs (search, no
network), the C++ API with Doxygen. Warnings of both are errors.

  tools/docs_site.py [FOLDER]         default build/site

docs/README.md is the navigation. Pages keep their places, so that their links are
right; what they link to beside pages is copied.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^()\s#]+)")
API = "`build/site/api/index.html`"


def cause_page(text):
    """The page of a cause: what its front matter says as text."""
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    cause = yaml.safe_load(head)
    out = [f"# {cause['label']}: {cause['title']}", "",
           f"{cause['severity']}, retry: {cause['retry']}", ""]
    # Its sections are below one title; its examples are tests.
    body = re.sub(r"^# ", "## ", body, flags=re.M)
    body, _, _ = body.partition("\n## Examples")
    out += [body, "", "## Fixes", ""]
    for fix in cause.get("fix", []):
        command = f": `{fix['command']}`" if fix.get("command") else ""
        out.append(f"- {fix['text']}{command} ({fix['safety']})")
    related = cause.get("related") or {}
    if isinstance(related, dict) and related:
        out += ["", "## It is another one if", ""]
        out += [f"- **{label}**: {how}" for label, how in related.items()]
    return "\n".join(out) + "\n"


def run(*words, **options):
    """Says what the program said only where it failed."""
    done = subprocess.run(words, text=True, cwd=ROOT, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{words[0]} failed")


def copy_pages(stage):
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"),
             *ROOT.glob("causes/*/*.md"), ROOT / "causes/README.md"]
    for page in pages:
        place = stage / page.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        text = page.read_text()
        for link in LINK.findall(text):
            target = (page.parent / link).resolve()
            if target.is_file() and target.suffix != ".md":
                copy = stage / target.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(target, copy)
        if text.startswith("---\n"):
            text = cause_page(text)
        # A folder of sources has no page, and the API is made beside.
        text = re.sub(r"\[([^\]]*)\]\([^()\s]*include/muster\)", r"`\1`", text)
        place.write_text(text.replace(
            API, f'<a href="../../api/index.html">{API.strip("`")}</a>'))


def navigation():
    """The sections of docs/README.md."""
    nav = [{"muster": "README.md"}]
    index = (ROOT / "docs" / "README.md").read_text()
    for section in re.split(r"^## ", index, flags=re.M)[1:]:
        title, _, rest = section.partition("\n")
        entries = re.findall(r"^- \[(.*)\]\((.*)\)$", rest, re.M)
        nav.append({title: [{name.replace("`", ""): os.path.normpath("docs/" + to)}
                            for name, to in entries]})
    return nav


def build(site):
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder, "pages")
        stage.mkdir()
        copy_pages(stage)
        # JSON is YAML.
        config = pathlib.Path(folder, "mkdocs.yml")
        config.write_text(json.dumps({
            "site_name": "muster", "docs_dir": str(stage),
            "site_dir": str(site), "nav": navigation(), "strict": True,
            "theme": {"name": "readthedocs", "highlightjs": False},
            "use_directory_urls": False, "plugins": ["search"]}))
        run("mkdocs", "build", "--clean", "--config-file", config)
    settings = (ROOT / "docs" / "Doxyfile").read_text()
    run("doxygen", "-", input=settings + f"\nOUTPUT_DIRECTORY = {site}\n")


def main():
    site = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        ROOT / "build" / "site").resolve()
    build(site)
    print(f"{site}/index.html")


if __name__ == "__main__":
    main()
