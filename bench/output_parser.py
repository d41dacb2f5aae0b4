# SPDX-License-Identifier: Apache-2.0
"""Reads the output of a program that met a fault: its errors, when they came,
and which hosts they name. Pure."""
import dataclasses
import re

LONGEST = 150

# Who logs begins a line with its level, the time, and where in the code it is:
# "E0000 00:00:1.2 34 a.cc:5] ", "[W1122 08:51:28.0 a.cpp:7] ",
# "2026-11-22 08:51:28.0: W tensorflow/a.cc:5] ".
LOGGED = re.compile(r"(?:\[?([IWEF])\d{4} [\d:. ]+|[\d-]+ [\d:.]+: ([IWEF]) )"
                    r"\S+:\d+\] (?:\[\w+\] )?(.*)")
RAISED = re.compile(r"(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): \S")
OF_RANK = re.compile(r"\[(?:default|rank)\d+\]:\s?")
FOLDERS = re.compile(r"(?<![\w.:/])/(?:[\w.+-]+/)+(?=[\w.+-])")
ALARM = re.compile(r"fail|error|refused|time[sd]? ?out|unreachable|unavailable"
                   r"|cannot be|could not", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Line:
    rank: int
    at: float  # seconds
    text: str


@dataclasses.dataclass(frozen=True)
class Output:
    """Of all processes of one program, by the time."""
    lines: list
    exit_codes: dict  # by rank; None: it still runs


@dataclasses.dataclass(frozen=True)
class CheckResult:
    """Of muster check: its documents by rank, and what of them is not as the
    lab expects."""
    seconds: float
    documents: dict
    wrong: list


def error_in(text):
    """The message of a line that reports an error; None: it reports none."""
    text = OF_RANK.sub("", text, count=1)
    logged = LOGGED.match(text)
    if logged:
        level = logged[1] or logged[2]
        message = logged[3]
        alarming = level in "EF" or level == "W" and ALARM.search(message)
        return message if alarming else None
    return text if RAISED.match(text) else None


def errors_in(output, healthy):
    """Its errors, without those that it prints on healthy hosts."""
    usual = {error_in(line.text) for line in healthy.lines}
    found = [(line, error_in(line.text)) for line in output.lines]
    return [dataclasses.replace(line, text=message)
            for line, message in found
            if message is not None and message not in usual]


def records_in(output):
    """The lines of its log; one that ends with a colon, with those below it."""
    records = []
    for line in output.lines:
        logged = LOGGED.match(line.text)
        if logged:
            records.append(dataclasses.replace(line, text=logged[3]))
        elif records and records[-1].text.endswith(":"):
            head = records.pop()
            records.append(dataclasses.replace(
                head, text=f"{head.text} {line.text}"))
    return records


def shorten(text):
    """On one line, without the folders of paths."""
    text = FOLDERS.sub("…/", " ".join(text.split()))
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + " …"


def ranks_named_in(text, addresses):
    """Ranks whose host a text names: by address, name, or number."""
    return [rank for rank, address in enumerate(addresses)
            if re.search(rf"\b(?:{re.escape(address)}|w-{rank}"
                         rf"|(?:task|rank|process)[ :=]{rank})\b", text)]
