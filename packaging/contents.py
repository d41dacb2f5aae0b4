#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what each package has to say of its contents.

  packaging/contents.py build/release

Into build/release/package/PACKAGE/: `muster.spdx.json` (SPDX 2.3) lists what is
linked into it, `third-party.txt` has the licenses of that, and there are
Debian's copyright and changelog. The list is read from the linker's own map of
the program and from the headers that the compiler read.
"""
import collections
import datetime
import gzip
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LICENSES = {}
for line in (ROOT / "packaging" / "licenses.txt").read_text().splitlines():
    if line and not line.startswith("#"):
        LICENSES.update([line.split(maxsplit=1)])
# The packages, and what ninja calls their contents.
PACKAGES = {"muster": ["muster"],
            "libmuster-dev": ["libmuster.a", "libmuster_pjrt.a",
                              "libmuster_train.a"]}
MAINTAINER = "The muster maintainers <maintainers@muster.invalid>"
NUMBER = "0x0*[1-9a-f][0-9a-f]*"
CONTRIBUTION = re.compile(rf" {NUMBER} +{NUMBER} +(/.+)")


def output_of(*command, **options):
    return subprocess.run(command, check=True, text=True,
                          stdout=subprocess.PIPE, **options).stdout


def linked(build):
    """The files that parts of the program come from, by the linker's word: it
    is linked once more, with a map, and must be the same."""
    folder = build / "package"
    output = " -o muster "
    commands = output_of("ninja", "-C", build, "-t", "commands", "-s", "muster")
    link = next(part for part in commands.split(" && ") if output in part)
    again = link.replace(
        output, f" -o {folder}/again -Wl,-Map={folder}/again.map ")
    subprocess.run(again, shell=True, check=True, cwd=build)
    same = (folder / "again").read_bytes() == (build / "muster").read_bytes()
    (folder / "again").unlink()
    if not same:
        sys.exit("linked twice, the program is not the same")
    text = (folder / "again.map").read_text(errors="replace")
    text = text.partition("Linker script and memory map")[2]
    return {os.path.realpath(re.sub(r"\([^()]*\)$", "", path))
            for path in CONTRIBUTION.findall(text)}


def read(build, targets):
    """The files of the system that the compiler read for these targets."""
    objects = [name for name in output_of(
        "ninja", "-C", build, "-t", "inputs", *targets).split()
        if name.endswith(".o") and name.startswith("src/")]
    deps = output_of("ninja", "-C", build, "-t", "deps", *objects)
    return {os.path.realpath(path)
            for path in re.findall(r"^ +(/usr/.*)$", deps, re.M)}


def owners(files):
    """{(source, version): its packages} of Debian, of these files."""
    text = subprocess.run(["dpkg", "-S", *sorted(files)], text=True,
                          check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    names = {name.strip() for line in text.splitlines()
             if not line.startswith("diversion")
             for name in line.rpartition(": ")[0].split(",")}
    found = collections.defaultdict(set)
    for line in output_of(
            "dpkg-query", "-W", "-f",
            "${binary:Package} ${source:Package} ${source:Version}\n",
            *sorted(names)).splitlines():
        name, source, version = line.split()
        if LICENSES.get(source) is None:
            sys.exit(f"{name} (source {source}) is part of muster and has no "
                     "line in packaging/licenses.txt")
        if LICENSES[source] != "none":
            found[source, version].add(name.partition(":")[0])
    return found


def spdx(package, version, when, parts, how):
    """The SPDX 2.3 document."""
    def entry(name, version, license, **more):
        return {"name": name, "SPDXID": f"SPDXRef-{name}",
                "versionInfo": version, "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False, "licenseConcluded": license,
                "licenseDeclared": license, "copyrightText": "NOASSERTION",
                **more}
    packages = [entry(package, version, "Apache-2.0")]
    relations = [("DOCUMENT", "DESCRIBES", package)]
    for source, release in sorted(parts):
        packages.append(entry(
            source, release, LICENSES[source],
            supplier="Organization: Debian", externalRefs=[{
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator":
                    f"pkg:deb/debian/{source}@{release}?arch=source"}]))
        relations.append((package, how(source), source))
    body = {"packages": packages, "relationships": [
        {"spdxElementId": f"SPDXRef-{a}", "relationshipType": kind,
         "relatedSpdxElement": f"SPDXRef-{b}"} for a, kind, b in relations]}
    digest = hashlib.sha256(json.dumps(body).encode()).hexdigest()[:32]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT", "name": f"{package}-{version}",
            "documentNamespace":
                f"https://spdx.org/spdxdocs/{package}-{version}-{digest}",
            "creationInfo": {"created": f"{when:%Y-%m-%dT%H:%M:%SZ}",
                             "creators": ["Tool: packaging/contents.py"]},
            **body}


OWN = """{package} is muster.

License: Apache-2.0, the text of which is /usr/share/common-licenses/Apache-2.0
on Debian and LICENSE elsewhere.
Copyright 2026 the muster authors.

It holds parts of other packages, under the licenses that third-party.txt has.
"""


def third_party(parts):
    """The copyright files of the parts, and the licenses that they name."""
    text = ""
    for (source, version), names in sorted(parts.items()):
        text += f"{'=' * 78}\n{source} {version}: {LICENSES[source]}\n\n"
        texts = {pathlib.Path("/usr/share/doc", name,
                              "copyright").read_text(errors="replace")
                 for name in names}
        text += "\n".join(sorted(texts)) + "\n"
    named = set(re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", text))
    for name in sorted(named):
        path = pathlib.Path("/usr/share/common-licenses", name)
        if path.exists():
            text += f"{'=' * 78}\n{path}\n\n{path.read_text()}\n"
    return text


def changelog(package, version, when):
    return (f"{package} ({version}) unstable; urgency=medium\n\n"
            "  * What has changed is listed in CHANGELOG.md.\n\n"
            f" -- {MAINTAINER}  {when:%a, %d %b %Y %H:%M:%S} +0000\n")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    when = datetime.datetime.fromtimestamp(
        int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    version = re.search(r'kVersion = "([0-9.]+)"', (
        ROOT / "include/muster/version.h").read_text())[1]
    for package, targets in PACKAGES.items():
        folder = build / "package" / package
        folder.mkdir(parents=True, exist_ok=True)
        targets = [name for name in targets if (build / name).exists()]
        archives = owners(linked(build)) if package == "muster" else {}
        parts = owners(read(build, targets))
        for key, names in archives.items():
            parts[key] |= names
        sources = {source for source, _ in archives}
        document = spdx(
            package, version, when, parts,
            lambda source: "STATIC_LINK" if source in sources else "CONTAINS")
        (folder / "muster.spdx.json").write_text(
            json.dumps(document, indent=1) + "\n")
        (folder / "copyright").write_text(OWN.format(package=package))
        (folder / "third-party.txt").write_text(third_party(parts))
        with open(folder / "changelog.gz", "wb") as file, gzip.GzipFile(
                "", "wb", 9, file, when.timestamp()) as out:
            out.write(changelog(package, version, when).encode())
        print(f"{package}: parts of {len(parts)} packages of Debian")


if __name__ == "__main__":
    main()
