#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The word tool refuses new uses and leaves the old ones alone."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(os.environ["MUSTER_SOURCE"]) / "tools" / "words.py"


class Words(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.git("init", "-q")
        self.write("src/base/old.cc", "int Look();\nint Other();\n")
        self.commit()

    def git(self, *args):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=t", "-c",
                        "user.email=t@example.org", *args], check=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "x")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def words(self, *args):
        self.git("add", "-A")
        done = subprocess.run(
            [sys.executable, TOOL, "--root", self.root, "--base", "HEAD",
             *args], capture_output=True, text=True, timeout=30)
        return done.returncode, done.stdout

    def test_leaves_what_was_there(self):
        self.assertEqual(self.words(), (0, ""))

    def test_refuses_a_name_and_says_the_better_one(self):
        self.write("src/base/new.cc", "int x;\nconstexpr int kMostHosts = 3;\n")
        self.assertEqual(self.words(), (
            1, "src/base/new.cc:2: `kMost`: kMax\n"))

    def test_refuses_a_part_of_a_name(self):
        self.write("src/base/new.cc", "void StartTalk(int peer_meeting);\n")
        code, out = self.words()
        self.assertEqual(code, 1)
        self.assertIn("`talk`", out)
        self.assertIn("`meeting`", out)

    def test_refuses_a_phrase_in_a_message(self):
        self.write("src/base/new.cc", 'Say("the TPU is made anew");\n')
        self.assertIn("`made anew`", self.words()[1])

    def test_allows_comments_and_the_allowed_phrases(self):
        self.write("src/base/new.cc",
                   '// What we were told.\nSay("cannot look up the name");\n')
        self.assertEqual(self.words(), (0, ""))

    def test_allows_the_documentation_of_a_script(self):
        self.write("tools/new.py", '"""What is told.\n\nA talk."""\nx = 1\n')
        self.assertEqual(self.words(), (0, ""))

    def test_allows_an_edit_of_a_line_that_had_it(self):
        self.write("src/base/old.cc", "long Look();\nint Other();\n")
        self.assertEqual(self.words(), (0, ""))

    def test_allows_a_line_that_only_moves(self):
        self.write("src/base/old.cc", "int Other();\n")
        self.write("src/base/new.cc", "  int Look();\n")
        self.assertEqual(self.words(), (0, ""))

    def test_refuses_a_file_name(self):
        self.write("src/base/door.cc", "int x;\n")
        self.assertEqual(self.words(),
                         (1, "src/base/door.cc: `door`: listener\n"))

    def test_lists_all_and_refuses_none(self):
        code, out = self.words("--all")
        self.assertEqual(code, 0)
        self.assertIn("src/base/old.cc:1: `look`", out)

    def test_refuses_a_crowded_folder(self):
        for number in range(31):
            self.write(f"src/run/plan/a{number}.cc", "int x;\n")
        code, out = self.words()
        self.assertEqual(code, 1)
        self.assertIn("src/run/plan: 31 files", out)


if __name__ == "__main__":
    unittest.main()
