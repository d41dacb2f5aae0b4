#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages and the tarball: contents, lintian, and use, unpacked
into an empty folder. root_test.py installs them into a system."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import dist

HERE = pathlib.Path(__file__).parent
DEBS = [dist.only("muster_*_amd64.deb"), dist.only("libmuster-dev_*.deb")]


class Deb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.root = cls.folder / "root"
        (cls.root / "var/lib/dpkg/updates").mkdir(parents=True)
        (cls.root / "var/lib/dpkg/info").mkdir()
        for name in ("status", "available"):
            (cls.root / "var/lib/dpkg" / name).touch()
        # Into a system without any other package.
        dist.run("dpkg", f"--root={cls.root}", "--force-not-root",
                 "--force-depends", "-i", *DEBS)

    def test_the_program_runs(self):
        muster = self.root / "usr/bin/muster"
        text = dist.run(muster, "run", "-n", "2", "--", "sh", "-c",
                        'echo rank $RANK of $WORLD_SIZE', cwd=self.folder)
        self.assertIn("[rank 1] rank 1 of 2", text)

    def test_man_pages_and_completions_are_at_their_places(self):
        share = dist.BINARY.parent / "share"
        for path in filter(pathlib.Path.is_file, share.rglob("*")):
            name = path.relative_to(share)
            if name.parts[0] == "man":
                name = name.with_name(f"{name.name}.gz")
            self.assertTrue((self.root / "usr/share" / name).exists(), name)

    def test_find_package_finds_the_library(self):
        build = self.folder / "build"
        dist.run("cmake", "-S", HERE / "user", "-B", build,
                 f"-DCMAKE_PREFIX_PATH={self.root}/usr")
        dist.run("cmake", "--build", build)
        text = dist.run(self.root / "usr/bin/muster", "run", "-n", "2", "--",
                        build / "user", cwd=self.folder)
        self.assertIn("rank 1 of 2", text)

    def test_nothing_names_the_machine_that_built_it(self):
        for path in self.root.rglob("usr/**/*"):
            if path.is_file():
                self.assertNotIn(os.fsencode(dist.SOURCE), path.read_bytes(),
                                 path)

    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed")
    def test_lintian_has_no_error(self):
        dist.run("lintian", "--allow-root", "--fail-on", "error", *DEBS)

    def test_what_is_linked_in_is_listed(self):
        for package in ("muster", "libmuster-dev"):
            folder = self.root / "usr/share/doc" / package
            document = json.loads((folder / "muster.spdx.json").read_text())
            self.assertEqual(document["spdxVersion"], "SPDX-2.3")
            ids = {each["SPDXID"]: each for each in document["packages"]}
            licenses = (folder / "third-party.txt").read_text()
            for relation in document["relationships"]:
                self.assertTrue({relation["spdxElementId"],
                                 relation["relatedSpdxElement"]}
                                <= {*ids, "SPDXRef-DOCUMENT"})
            for each in document["packages"][1:]:
                self.assertIn(f"{each['name']} {each['versionInfo']}: "
                              f"{each['licenseDeclared']}\n", licenses)
            self.assertIn("SPDXRef-nlohmann-json3", ids)
            self.assertEqual("SPDXRef-grpc" in ids, package == "muster")

    def test_the_tarball_is_complete(self):
        archive = dist.only("*.tar.gz")
        dist.run("tar", "-xf", archive, "-C", self.folder)
        top = self.folder / archive.name[:-len(".tar.gz")]
        self.assertEqual(dist.run(top / "bin" / "muster", "--version"),
                         dist.run(dist.BINARY, "--version"))
        for name in ("LICENSE", "share/doc/muster/muster.spdx.json",
                     "share/doc/muster/third-party.txt"):
            self.assertTrue((top / name).exists(), name)

    def test_the_sums_are_right(self):
        lines = (dist.DIST / "SHA256SUMS").read_text().splitlines()
        names = {path.name for path in dist.DIST.iterdir()}
        self.assertEqual({line.split()[1] for line in lines} | {"SHA256SUMS"},
                         names)
        for line in lines:
            digest, name = line.split()
            self.assertEqual(hashlib.sha256(
                (dist.DIST / name).read_bytes()).hexdigest(), digest)

    def test_what_a_file_needs_is_declared(self):
        """The static libraries need no library without its -dev package."""
        config = next(self.root.rglob("muster-targets.cmake")).read_text()
        libraries = re.search(r'LINK_LIBRARIES "Threads::Threads;(.*)"', config)
        depends = dist.run("dpkg-deb", "-f", DEBS[1], "Depends")
        packages = {"isal": "libisal-dev", "z": "zlib1g-dev",
                    "curl": "libcurl4-openssl-dev", "crypto": "libssl-dev"}
        for name in re.findall(r"(?<=;)[a-z]+|^[a-z]+|(?<=,-l)\w+",
                               libraries[1]):
            self.assertIn(packages.pop(name), depends)
        self.assertEqual(packages, {})


if __name__ == "__main__":
    unittest.main(verbosity=2)
