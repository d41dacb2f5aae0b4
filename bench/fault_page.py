# SPDX-License-Identifier: Apache-2.0
"""The page of bench/faults.py. Pure."""
import said
import scene

OWN = "muster check"
HEAD = """\
# The same faults, said by others

Made by `bench/faults.py --page docs/reference/peer-faults.md`, with
{versions}. Ten faults of [the lab](lab.md),
on three hosts that are network namespaces; the fault is where all meet, at rank
0. One process a host, which has imported what it needs before its time begins,
and is watched for {seconds:.0f} s. TensorFlow: `MultiWorkerMirroredStrategy` with
TF_CONFIG; JAX: `jax.distributed.initialize`; torchrun: `--master-addr` and a
group of Gloo; their settings are the defaults. Once they have joined they reduce
4 MB over all. muster check is played alone; the three others at the same time, on
hosts of their own.

- after: seconds to the first error that healthy hosts do not print
- what it says: its last error, shortened; where there is none, "no error" and
  the last line of its log, or the last that names another host; of muster check
  the finding, by the first host
- names: ranks whose host is in what it says, by address, name or number
- at the end: what its processes do then

On healthy hosts all of them start: {healthy}.

| fault, on ranks | who | after | what it says | names | at the end |
|---|---|---|---|---|---|
"""


def seconds(value):
    return f"{value:.1f}"


def quoted(text):
    """Text of somebody else in a cell."""
    return "`" + said.short(text).replace("`", "'").replace("|", "\\|") + "`"


def ranks(numbers):
    return ", ".join(map(str, numbers)) or "-"


def end_of(told):
    if any(line.text.startswith("peer: joined") for line in told.lines):
        return "trains"
    ended = {rank: code for rank, code in told.ends.items() if code is not None}
    if not ended:
        return "all wait"
    codes = ", ".join(map(str, sorted(set(ended.values()))))
    waiting = len(told.ends) - len(ended)
    return f"{len(ended)} ended, exit code {codes}" + \
        (f"; {waiting} wait{'s' if waiting == 1 else ''}" if waiting else "")


def peer_cells(told, healthy, addresses):
    errors = said.errors_of(told, healthy)
    if errors:
        return (seconds(errors[0].at), quoted(errors[-1].text),
                ranks(said.named_in("\n".join(one.text for one in errors),
                                    addresses)), end_of(told))
    # What a process says of its own host names nobody.
    records = [(one.text, [rank for rank in said.named_in(one.text, addresses)
                           if rank != one.rank])
               for one in said.records_of(told)]
    if not records:
        return "-", "no error", "-", end_of(told)
    text, named = next((one for one in reversed(records) if one[1]),
                       records[-1])
    return "-", f"no error; {quoted(text)}", ranks(named), end_of(told)


def own_cells(fault, verdict):
    """The finding that has the cause, as the first host says it."""
    for rank, document in sorted(verdict.documents.items()):
        for finding in document["findings"]:
            if finding["cause"] == fault.cause and \
                    finding["severity"] == fault.severity:
                named = sorted(scene.names_of(finding, rank))
                return (seconds(verdict.seconds),
                        f"{fault.cause}: {quoted(finding['what'])}",
                        ranks(named),
                        f"ends, {fault.severity}"
                        f"{', WRONG' if verdict.wrong else ''}")
    return seconds(verdict.seconds), "-", "-", "ends, WRONG"


def healthy_text(answers):
    times = []
    for who, answer in answers.items():
        if who == OWN:
            times.append(f"{who} ends after {seconds(answer.seconds)} s"
                         f"{'' if not answer.wrong else ', WRONG'}")
        else:
            joined = [line.at for line in answer.lines
                      if line.text.startswith("peer: joined")]
            times.append(f"{who} has reduced after {seconds(max(joined))} s"
                         if joined else f"{who} DOES NOT START")
    return ", ".join(times)


def page(results, versions, watched):
    """results: (fault, answers by name), the healthy one first."""
    (_, healthy), *played = results
    text = HEAD.format(
        versions=", ".join(f"{name} {version}"
                           for name, version in versions.items()),
        seconds=watched, healthy=healthy_text(healthy))
    for fault, answers in played:
        first = f"{fault.name}, {ranks(fault.named)}"
        for who, answer in answers.items():
            addresses = [f"10.77.0.{rank + 1}" for rank in range(fault.size)]
            cells = own_cells(fault, answer) if who == OWN else \
                peer_cells(answer, healthy[who], addresses)
            text += "| " + " | ".join((first, who, *cells)) + " |\n"
            first = ""
    return text
