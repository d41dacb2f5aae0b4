#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses the words of tools/words.txt in new names, messages and file names.

A line that a change adds may not use one of them in an identifier or a string;
one that is moved, or edited and had the word before, may keep it. Also refused: a
folder of src/ with more than 30 files.

  tools/words.py [--base REV] [--all] [--root DIR]

The base is the newest commit that is older than a day; --all lists every use in
the tree instead and fails for none.
"""
import argparse
import collections
import io
import pathlib
import re
import subprocess
import sys
import tokenize

CODE = {".cc", ".h", ".def", ".py", ".proto"}
OWN = {"tools/words.py", "tools/words.txt", "tests/tools/words_test.py"}
MAX_FILES = 30
STRING = r'R"\((.*?)\)"|"((?:[^"\\\n]|\\.)*)"'


def git(root, *args):
    done = subprocess.run(["git", "-C", str(root), *args], check=True,
                          capture_output=True, text=True)
    return done.stdout


def read_list(path):
    """The words, in lower case with the better ones, and what is allowed."""
    words, allowed = {}, []
    for line in path.read_text().splitlines():
        if line.startswith("= "):
            allowed.append(line[2:].strip())
        elif line.strip() and not line.startswith("#"):
            word, better = re.split(r"\s{2,}", line.strip(), maxsplit=1)
            words[word] = better
    return words, allowed


def parts(text):
    """The words of identifiers: kMostLooks_x → most, looks, x."""
    return [part.lower() for part in re.findall(
        r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)]


def without_comment(line, suffix):
    mark = "#" if suffix == ".py" else "//"
    quoted = [m.span() for m in re.finditer(STRING, line)]
    for found in re.finditer(re.escape(mark), line):
        if not any(a <= found.start() < b for a, b in quoted):
            return line[:found.start()]
    return line


def uses(text, words, allowed):
    """The words that a text uses, each as often as it does."""
    for phrase in allowed:
        text = re.sub(rf"\b{phrase}\b", "", text)
    found = collections.Counter()
    seen = parts(text)
    for word in words:
        if word.endswith("*"):
            found[word] = len(re.findall(rf"\b{word[:-1]}(?=[A-Z(])", text))
        elif " " in word:
            found[word] = len(re.findall(rf"\b{word}\b", text))
        else:
            found[word] = seen.count(word)
    return +found


def docstring_lines(text):
    """The lines of a Python file that are documentation or comments."""
    lines = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING and '"""' in token.string:
                lines.update(range(token.start[0], token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        pass
    return lines


def changed(root, base):
    """File → (added lines as (number, text), removed texts), and new files."""
    files, new = {}, []
    name = number = None
    for line in git(root, "diff", "-M", "-U0", "--no-color", base,
                    "--").splitlines():
        if line.startswith("+++ "):
            name = line[6:] if line.startswith("+++ b/") else None
            if name:
                files[name] = ([], [])
        elif line.startswith("@@"):
            number = int(re.search(r"\+(\d+)", line).group(1))
        elif name and line.startswith("+"):
            files[name][0].append((number, line[1:]))
            number += 1
        elif name and line.startswith("-") and not line.startswith("--- "):
            files[name][1].append(line[1:])
    for line in git(root, "diff", "-M", "--name-status", base,
                    "--").splitlines():
        status, *names = line.split("\t")
        if status[0] in "AR":
            new.append(names[-1])
    return files, new


def in_lines(root, files, words, allowed):
    """Every new use of a word: (place, word)."""
    gone = {text.strip() for _, removed in files.values() for text in removed}
    for name, (added, removed) in sorted(files.items()):
        path = pathlib.Path(root, name)
        if path.suffix not in CODE or name in OWN or not path.exists():
            continue
        documented = docstring_lines(path.read_text()) \
            if path.suffix == ".py" else set()
        kept = collections.Counter()
        for text in removed:
            kept += uses(without_comment(text, path.suffix), words, allowed)
        for number, text in added:
            if number in documented or text.strip() in gone:
                continue
            found = uses(without_comment(text, path.suffix), words, allowed)
            for word, times in found.items():
                spare = min(kept[word], times)
                kept[word] -= spare
                if times > spare:
                    yield f"{name}:{number}", word


def in_names(new, words, allowed):
    for name in sorted(new):
        stem = pathlib.Path(name).stem
        if pathlib.Path(name).suffix in CODE and name not in OWN:
            for word in uses(stem, words, allowed):
                yield name, word


def crowded(root):
    folders = collections.Counter(
        pathlib.Path(name).parent
        for name in git(root, "ls-files", "src").splitlines())
    for folder, count in sorted(folders.items()):
        if count > MAX_FILES:
            yield (f"{folder}: {count} files, {MAX_FILES} are the limit: "
                   "split it by subject")


def day_old(root):
    old = git(root, "rev-list", "-1", "--before=1 day ago", "HEAD").strip()
    return old or git(root, "rev-list", "--max-parents=0",
                      "HEAD").split()[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--root", default=pathlib.Path(__file__).parents[1])
    args = parser.parse_args()
    words, allowed = read_list(pathlib.Path(__file__).with_name("words.txt"))
    if args.all:
        names = git(args.root, "ls-files").splitlines()
        files = {name: (list(enumerate(
            pathlib.Path(args.root, name).read_text().splitlines(), 1)), [])
            for name in names if pathlib.Path(name).suffix in CODE}
        new = names
    else:
        files, new = changed(args.root, args.base or day_old(args.root))
    wrong = [f"{place}: `{word.rstrip('*')}`: {words[word]}"
             for place, word in [*in_lines(args.root, files, words, allowed),
                                 *in_names(new, words, allowed)]]
    full = list(crowded(args.root))
    for line in wrong + full:
        print(line)
    return 1 if full or (wrong and not args.all) else 0


if __name__ == "__main__":
    sys.exit(main())
