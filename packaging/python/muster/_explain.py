# SPDX-License-Identifier: Apache-2.0
"""muster.explain: the cause of a failure as a value."""
from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from typing import Any, Dict, List, Optional, Tuple, Type, TypeVar, Union

from ._errors import MusterError, UnknownCause
from ._program import program

_T = TypeVar("_T")
_Path = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class Evidence:
    """An observation, by whom, and when (ISO 8601, or None)."""
    what: str
    source: str
    at: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Fix:
    """What to do. `safety` is safe, asks or costs; an empty `command`: none."""
    text: str
    command: str = ""
    safety: str = ""
    changes_results: bool = False

    def __str__(self) -> str:
        return f"{self.text}: {self.command}" if self.command else self.text


@dataclasses.dataclass(frozen=True)
class Finding:
    """One named cause: muster.finding/1 of docs/reference/json.md."""
    cause: str
    severity: str
    confidence: str
    what: str
    subjects: Tuple[str, ...] = ()
    evidence: Tuple[Evidence, ...] = ()
    ruled_out: Tuple[Any, ...] = ()
    fixes: Tuple[Fix, ...] = ()
    victims: Tuple[str, ...] = ()
    related: Tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.severity}[{self.cause}] {self.what}"


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A cause that remains, and the observation that would decide."""
    cause: str
    title: str
    why: str
    decide: str
    command: str = ""


def explain(path: _Path, *more: _Path,
            exit_status: Optional[int] = None) -> Optional[Finding]:
    """Why did it fail? The root cause; None: nothing failed in there.

    `path` is what `muster explain` takes: logs of all ranks, the folder of a
    run, an archive, a notebook. UnknownCause if there is a failure without a
    known cause, MusterError if nothing could be read.
    """
    argv = [program(), "explain", "--output", "json"]
    if exit_status is not None:
        argv += ["--exit", str(exit_status)]
    for each in (path, *more):
        name = os.fspath(each)
        argv.append(os.path.join(".", name) if name[:1] == "-" else name)
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    try:
        document: Dict[str, Any] = json.loads(done.stdout)
        schema = document["schema"]
    except (ValueError, KeyError, TypeError):
        text = done.stderr.decode(errors="replace").strip()
        raise MusterError(f"exit code {done.returncode}: {text}") from None
    if schema == "muster.finding/1":
        raise MusterError(str(_finding(document)))
    if schema != "muster.explain/1":
        raise MusterError(f"this package reads muster.explain/1, not {schema}")
    if document["findings"]:
        return _finding(document["findings"][0])
    if document["verdict"] == "healthy":
        return None
    candidates = _all(Candidate, document["candidates"])
    raise UnknownCause("the cause is unknown; " + (
        "it may be " + ", ".join(c.cause for c in candidates) if candidates
        else "no cause of the catalog is near"), candidates)


def _one(kind: Type[_T], values: Dict[str, Any]) -> _T:
    """Keys that this version does not know are left out."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore
    return kind(**{k: v for k, v in values.items() if k in names})


def _all(kind: Type[_T], values: List[Dict[str, Any]]) -> Tuple[_T, ...]:
    return tuple(_one(kind, value) for value in values)


def _finding(values: Dict[str, Any]) -> Finding:
    values = {k: tuple(v) if isinstance(v, list) else v
              for k, v in values.items()}
    values["evidence"] = _all(Evidence, values["evidence"])
    values["fixes"] = _all(Fix, values["fixes"])
    return _one(Finding, values)
