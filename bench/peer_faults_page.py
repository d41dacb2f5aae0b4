# SPDX-License-Identifier: Apache-2.0
"""The page that bench/peer_faults.py writes. Pure."""
import scene
from output_parser import errors_in, ranks_named_in, records_in, shorten

OWN = "muster check"
HEAD = """\
# How other launchers report the same faults

Made by `bench/peer_faults.py --page docs/reference/peer-faults.md`, with
{versions}. Ten faults of [the lab](lab.md),
on three hosts that are network namespaces; the fault is at rank 0, to which all
connect. One process a host, which has imported what it needs before its time
begins, and is watched for {seconds:.0f} s. TensorFlow: `MultiWorkerMirroredStrategy` with
TF_CONFIG; JAX: `jax.distributed.initialize`; torchrun: `--master-addr` and a
group of Gloo; their settings are the defaults. Once they have joined they reduce
4 MB over all. muster check runs alone; the three others at the same time, on
hosts of their own.

- after: seconds to the first error that healthy hosts do not print
- message: its last error, shortened; where there is none, "no error" and the
  last line of its log, or the last that names another host; of muster check the
  finding, by the first host
- names: ranks whose host is in the message, by address, name or number
- at the end: what its processes do then

On healthy hosts all of them start: {healthy}.

| fault, on ranks | launcher | after | message | names | at the end |
|---|---|---|---|---|---|
"""


def seconds(value):
    return f"{value:.1f}"


def quoted(text):
    """Output in a cell."""
    return "`" + shorten(text).replace("`", "'").replace("|", "\\|") + "`"


def ranks(numbers):
    return ", ".join(map(str, numbers)) or "-"


def end_of(output):
    if any(line.text.startswith("peer: joined") for line in output.lines):
        return "trains"
    ended = {rank: code for rank, code in output.exit_codes.items()
             if code is not None}
    if not ended:
        return "all wait"
    codes = ", ".join(map(str, sorted(set(ended.values()))))
    waiting = len(output.exit_codes) - len(ended)
    return f"{len(ended)} ended, exit code {codes}" + \
        (f"; {waiting} wait{'s' if waiting == 1 else ''}" if waiting else "")


def peer_cells(output, healthy, addresses):
    errors = errors_in(output, healthy)
    if errors:
        return (seconds(errors[0].at), quoted(errors[-1].text),
                ranks(ranks_named_in("\n".join(one.text for one in errors),
                                     addresses)), end_of(output))
    # A process that names its own host names none of the others.
    records = [(one.text, [rank for rank in ranks_named_in(one.text, addresses)
                           if rank != one.rank])
               for one in records_in(output)]
    if not records:
        return "-", "no error", "-", end_of(output)
    text, named = next((one for one in reversed(records) if one[1]),
                       records[-1])
    return "-", f"no error; {quoted(text)}", ranks(named), end_of(output)


def own_cells(fault, result):
    """The finding that has the cause, by the first host."""
    for rank, document in sorted(result.documents.items()):
        for finding in document["findings"]:
            if finding["cause"] == fault.cause and \
                    finding["severity"] == fault.severity:
                named = sorted(scene.names_of(finding, rank))
                return (seconds(result.seconds),
                        f"{fault.cause}: {quoted(finding['what'])}",
                        ranks(named),
                        f"ends, {fault.severity}"
                        f"{', WRONG' if result.wrong else ''}")
    return seconds(result.seconds), "-", "-", "ends, WRONG"


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
