#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds of the fuzzers of resolve, made from the conformance vectors, and of
those of messages.

  tests/fuzz/seeds.py VECTORS OUT     OUT/grammar_fuzz/…, OUT/resolve_fuzz/…
"""
import json
import pathlib
import sys

# Which grammar of grammar_fuzz an argument is for.
GRAMMARS = {"hostlist": 0, "tasks_per_node": 1, "endpoint": 2, "tpu": 3,
            "cluster_spec": 5, "conf": 6, "nnodes": 8,
            "accelerator_type": 10}


def seeds(vector):
    args = vector.get("args") or {}
    for name, number in GRAMMARS.items():
        value = args.get(name)
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            yield "grammar_fuzz", bytes([number]) + text.encode()
    for path, text in (vector.get("files") or {}).items():
        if "host" in path:
            yield "grammar_fuzz", b"\x04" + text.encode()
            yield "resolve_fuzz", b"\x05" + text.encode()
        if "resourceconfig" in path:
            yield "resolve_fuzz", b"\x04" + text.encode()
    env = vector.get("env") or {}
    if "TF_CONFIG" in env:
        yield "resolve_fuzz", b"\x00" + env["TF_CONFIG"].encode()
    if env:
        lines = "\n".join(f"{k}={v}" for k, v in env.items())
        yield "resolve_fuzz", b"\x03" + lines.encode()
    for url, answer in (vector.get("http") or {}).items():
        body = (answer.get("body") or "").encode()
        number = (0 if "tpu-env" in url else 1 if "endpoints" in url else
                  2 if "tpu.googleapis" in url else
                  3 if "listInstances" in url else
                  4 if "instances/" in url else
                  5 if "labelSelector" in url else
                  6 if "/pods" in url else 7)
        yield "http_fuzz", bytes([number]) + body


# What no vector has: versions of packages, names of TPUs, credentials.
MORE = [("resolve_fuzz", b"\x07jaxlib (<=0.4.35,>=0.4.34) ; extra == 'tpu'"),
        ("resolve_fuzz", b"\x07Requires-Dist: jaxlib[x]~=0.4.1rc1,!=0.4.*\n"),
        ("resolve_fuzz", b'\x06{"tpu_node_name": "t", "project": "p", '
                         b'"zone": "z", "type": "authorized_user"}'),
        ("grammar_fuzz", b"\x09n-0:1:10.0.0.1,n-1:2:10.0.0.2")]


def mesh_frame(kind, body):
    length = (len(body) + 1).to_bytes(4, "little")
    return b"MUSF" + length + bytes([kind]) + body + 32 * b"s"


# One message of each shape: a kind, a line feed, a body; frames of the mesh.
MORE += [("agent_messages_fuzz", text) for text in (
    b'call\n{"attempt": 1}',
    b'refused\n{"cause": "peer-died", "message": "x", "evidence": []}',
    b'stop\n{"attempt": 1, "cause": "peer-died", "now": true}',
    b'stopped\n{"attempt": 1, "leftovers": 2, "logs": []}',
    b'goodbye\n{"exit_code": 75, "origin": "muster", "summary": "s"}',
    b'store\n{"rank": 0, "attempt": 1, "frame": "00ff"}',
    b'store-reply\n{"rank": 0, "attempt": 1, "frame": "00ff"}',
    b'started\n{"rank": 0, "pid": 7, "attempt": 1, '
    b'"at": "2026-11-21T14:35:19.000123Z"}',
    b'progress\n{"attempt": 1, "now_ns": 5, "ranks": []}',
    b'fact\n{"name": "f", "fields": {"n": 1, "t": "x", "b": true, "d": 0.5}, '
    b'"subject": "s", "by": "b", "at": "2026-11-21T14:35:19.000123Z"}',
    b'peer-check-result\n{"attempt": 1, "row": "{}"}',
    b'hello\n{"protocol": 1, "messages": 99, "version": "9", "ranks": [0]}')]
MORE += [("command_line_fuzz", text.encode("latin-1")) for text in (
    "run\n-n\n4\n--env\nA=b\xe9\n--grace\n2s\n--\nprintf\ncaf\xe9",
    "run\n--hosts\na:1,[::1]:2\n--rank\n1\n--port-range=5-6\n--\nx",
    "resolve\n--output\njson\n$GRACE=3s\n$OUTPUT=text\n$LOG_LEVEL=no",
    "explain\n--exit\nSIGKILL\n--note\n\x9b2J\nruns/latest",
    "tpu\ncreate\nt\n--type\nv4-8\n--zone\nz\n--yes",
    "check\n--fail-on\nwarning\n--wait\n1h\nnetwork.reach")]
MORE += [("settings_file_fuzz", text) for text in (
    b'grace = "30s"\nmax-restarts = 5\nwait = 2.5\n[env]\nA = "b"\nC = 4\n',
    b'grase = "1s"', b'env = [1, }]', b'env = [1, {a = 1979-05-27T07:32:00Z}]',
    b'output = """json"""\n[env.x]\n"a=b" = true\n')]
MORE += [("mesh_frame_fuzz", mesh_frame(1, b'{"nonce": "n"}')),
         ("mesh_frame_fuzz", mesh_frame(6, b"row") + mesh_frame(8, b"")),
         ("mesh_frame_fuzz", b"MUSF\xff\xff\xff\x7f\x06")]
# A name, a carrier, in JSON or not; then a secret and text around it.
MORE += [("redact_fuzz", bytes([name, carrier, name % 2]) + text)
         for name in range(2) for carrier in range(11)
         for text in (b"hunter2hunter2", b"-----BEGIN PRIVATE KEY-----\nMIIE",
                      b"https://u:p@h/x?sig=1 token: \\\"a\\\"\\n")]

# Of what this fuzzer left out: a plan with a rank, an end, ports to be tried.
PROGRESS = ('{"phase": 2, "classes": 10, "phase_since_ns": 1, "beat_ns": 2, '
            '"first_step_ns": 1, "step": 7, "resumed_step": 0, '
            '"checkpoint_step": 5, "steps": 7, "samples": 70, '
            '"step_sum_ns": 9, "input_wait_sum_ns": 3, '
            '"checkpoint_sum_ns": 1, "evaluate_sum_ns": 1, '
            '"largest_step_ns": 2, "loss": 0.5, "unchanged_steps": 0}')
PLACE = {"value": "10.0.0.7:4001", "source": "plan"}
MORE += [("agent_messages_fuzz", text.encode()) for text in (
    'launch\n{"run_id": "r", "attempt": 1, "world_size": 1, "agents": [[0]], '
    '"ranks": [{"rank": 0, "local_rank": 0, "local_size": 1, '
    '"argv": ["a", ""], "environment": {"RANK": {"value": "0", '
    '"source": "cluster"}}, "unset": ["X"], "cores": [1], "directory": "/d", '
    '"name": "rank 0", "registered": "{}"}], "grace_ms": 10000, '
    '"digest": "d"}',
    'exited\n{"rank": 0, "pid": 7, "attempt": 1, "wait_status": 9, '
    '"sent_signal": 0, "could_not_start": false, '
    '"at": "2026-11-21T14:35:19.000123Z", "progress": ' + PROGRESS +
    ', "facts": [], "error_cause": "oom", "error_message": "m", '
    '"last_lines": ["x"]}',
    'progress\n{"attempt": 1, "now_ns": 5, "ranks": [{"rank": 0, '
    '"progress": ' + PROGRESS + ', "state": "S", "wait_channel": "futex", '
    '"finalizing": false}]}',
    'peer-check\n{"attempt": 1, "ports": ' + json.dumps({
        "schema": "muster.cluster/1", "members": [{
            "rank": 0, "task": "worker", "index": 0, "address": PLACE}],
        "self": None, "coordinator": PLACE,
        "size": {"value": 1, "source": "plan"}, "one_host": False}) + '}')]


# What hosts tell each other of the network.
def mesh_json(number, value):
    return "mesh_json_fuzz", bytes([number]) + json.dumps(value).encode()


WHO = {"rank": 1, "host": "b", "pid": 77, "version": "0.1.0", "list": "00ff"}
STREAM = {"bytes": 1 << 28, "us": 250000, "sent_again": 3, "segments": 9000,
          "sender": {"ran_ppm": 400000, "queued_ppm": 1000},
          "receiver": {"ran_ppm": 900000, "queued_ppm": 0}}
MORE += [
    mesh_json(0, dict(
        WHO, versions=[["jax", "0.4.35"]], files=[["program a", "00ff"]],
        marks=[[1, "/mnt/d"]], heard=[0], claims=[[1, "host b, pid 77"]],
        final=True, well=[[0, 8476, 210, -3]],
        taken=[{"port": 8476, "why": "busy", "cause": "net-port-in-use"}],
        other_lists=[{"who": "host a, pid 5", "line": "x, where y"}],
        paths=[{"path": "foreign", "tries": 2, "before": "refused",
                "answered_as": 1, "round_trip_us": 9, "healed_us": 7,
                "clock_ahead_us": -5, "seen": "SSH-2.0-x", "neighbor":
                "answers ARP", "translated": "10.0.0.9:1", "rank": 0,
                "number": "10.0.0.1:8476", "port": 8476,
                "sign_of_life": "port 22 is open"}])),
    mesh_json(1, {"hosts": [0, 1], "absent": [], "possible": 1, "links": [
        {"a": 0, "b": 1, "pings": 200, "p50_us": 80, "p99_us": 300,
         "least_us": 60, "there": STREAM, "back": STREAM, "passes": 3,
         "stopped": ""}]}),
    mesh_json(2, dict(WHO, purpose="speed", mark="m", members=["a:1", "b:1"],
                      nonce="00ff", seen_from="10.0.0.1:4000",
                      clock_us="1790000000000000"))]


# Answers of servers: what a connection says, what a call comes to.
def said(answer, closed=False):
    return bytes([2 * len(answer) + closed]) + answer


def call(answer, code=0):
    return bytes([code]) + said(answer)


def field(number, value):
    head = bytes([8 * number + (0 if isinstance(value, int) else 2)])
    return head + (bytes([value]) if isinstance(value, int)
                   else bytes([len(value)]) + value)


HTTP2 = said(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
DEVICE = field(1, field(1, b"/job:worker/task:1/device:GPU:0") +
               field(2, b"GPU") + field(4, 9) + field(6, 7))
TASK = field(1, field(1, field(1, b"jax_worker") + field(2, 1)) +
             field(2, 4) + field(6, 1))
METRIC = field(1, field(3, field(1, field(2, field(3, 1))) +
                        field(3, field(2, 16))))
MORE += [("identify_fuzz", data) for data in (
    b"\x00" + said(b"SSH-2.0-OpenSSH_9\r\n"),
    b"\x00" + said(b"") + said(b"HTTP/1.1 200 OK\r\n"),
    b"\x04" + said(b"") + said(8 * b"\x03") + said(b"\x00") + said(
        (2).to_bytes(8, "little") + b"12"),
    b"\x00" + said(b"") + said(b"") + said(b"") + said(b"") + said(
        b"\x15\x03\x01\x00\x02"),
    b"\x01" + HTTP2 + call(DEVICE) + 4 * call(TASK) + call(DEVICE),
    b"\x02" + HTTP2 + call(b"", 12) + call(b"", 5) + call(TASK),
    b"\x02" + HTTP2 + call(b"", 12) + call(b"", 12) + call(
        b"wrong service incarnation: requested 0, currently 67", 9) +
    call(TASK),
    b"\x03" + HTTP2 + 4 * call(b"", 12) + call(field(1, field(1, b"m"))) +
    call(METRIC),
    b"\x03" + HTTP2 + 6 * call(b"", 12) + call(field(1, 1)))]


# Google's services: what is read, what is asked, a header, a body.
def cloud(number, asked, value, header=""):
    text = value if isinstance(value, str) else json.dumps(value)
    return "cloud_fuzz", (bytes([number, asked]) +
                          ("" if number in (0, 4, 5) else
                           header + "\n").encode() + text.encode())


USER = {"type": "authorized_user", "client_id": "i", "client_secret": "s",
        "refresh_token": "r", "quota_project_id": "q"}
EXTERNAL = {"type": "external_account", "audience": "//iam/providers/x",
            "subject_token_type": "t", "token_url": "https://sts.example",
            "credential_source": {"url": "https://a.example", "headers": {
                "a": "b"}, "format": {"type": "json",
                                      "subject_token_field_name":
                                      "access_token"}}}
NODE = {"name": "projects/p/locations/z/nodes/t", "id": "7", "state": "READY",
        "health": "HEALTHY", "acceleratorType": "v4-16",
        "runtimeVersion": "tpu-ubuntu2204-base", "labels": {
            "muster-request": "r"}, "schedulingConfig": {"spot": True},
        "networkConfig": {"network": "projects/1/networks/default"},
        "networkEndpoints": [{"ipAddress": "10.0.0.2", "port": 8470,
                              "accessConfig": {"externalIp": "34.1.1.1"}}],
        "symptoms": [{"symptomType": "OUT_OF_MEMORY",
                      "createTime": "2026-11-21T14:35:19.1Z"}]}
QUEUED = {"name": "projects/p/locations/z/queuedResources/q",
          "state": {"state": "FAILED", "failedData": {"error": {
              "code": 8, "message": "no more capacity in the zone \"z\""}}},
          "tpu": {"nodeSpec": [{"nodeId": "t", "node": {
              "acceleratorType": "v4-8"}}]}}
REFUSED = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED",
                     "message": "Quota limit 'x' has been exceeded. Limit: 8 "
                     "in region r.", "details": [
                         {"@type": "google.rpc.ErrorInfo",
                          "reason": "RATE_LIMIT_EXCEEDED", "metadata": {
                              "quota_metric": "a/b", "consumer":
                              "projects/1", "service": "s"}},
                         {"@type": "google.rpc.RetryInfo",
                          "retryDelay": "1.5s"},
                         {"@type": "google.rpc.QuotaFailure", "violations": [
                             {"quotaMetric": "m", "description": "d"}]}]}}
DATE = "Fri, 15 Jan 2027 07:50:00 GMT"
JOURNAL = "".join(json.dumps(
    {"schema": "muster.tpu.journal/1", "at": "2026-11-21T14:35:19.000123Z",
     "step": step, "kind": "node", "project": "p", "zone": "z", "name": "t",
     "request": "r", "type": "v4-8", "version": "v", "scheduling": "spot",
     "operation": "o", "what": "", "pid": 7, "host": "h"}) + "\n"
    for step in ("asked", "made", "changing"))
MORE += [cloud(*args) for args in (
    (0, 0, USER), (0, 0, EXTERNAL),
    (0, 0, {"type": "impersonated_service_account", "source_credentials": USER,
            "service_account_impersonation_url":
            "https://iam.example/a@p.example:generateAccessToken"}),
    (0, 0, {"type": "service_account", "client_email": "e",
            "private_key": "-----BEGIN PRIVATE KEY-----\nMA==\n-----END "
            "PRIVATE KEY-----\n", "private_key_id": "k"}),
    (1, 0, {"access_token": "T", "expires_in": 3600, "scope": "a b",
            "id_token": "x.eyJlbWFpbCI6ICJhQGIifQ.y"}, DATE),
    (1, 1, {"error": "invalid_grant", "error_description": "revoked"}, DATE),
    (2, 0, {"access_token": "T", "expires_in": "60"}),
    (3, 0, NODE), (3, 5, REFUSED, "7"), (3, 8, QUEUED),
    (3, 16, {"acceleratorTypes": [{"type": "v4-8", "acceleratorConfigs": [
        {"topology": "2x2"}]}], "unreachable": ["locations/y"]}),
    (3, 24, {"runtimeVersions": [{"version": "v"}], "nextPageToken": "n"}),
    (3, 40, {"nodes": [NODE]}),
    (3, 48, {"name": "o", "done": True, "error": QUEUED["state"]["failedData"][
        "error"]}),
    (3, 7, "<html>moved", "https://x.example"),
    (4, 0, JOURNAL), (5, 0, "2026-11-21T14:35:19.000123Z"), (5, 0, "1.5s"),
    (5, 0, DATE), (5, 0, "default\n[core]\nproject = p\n"))]

# What is handed over as text.
FINDING = {"schema": "muster.finding/1", "cause": "oom", "severity": "error",
           "confidence": "likely", "what": "w", "subjects": ["rank 1"],
           "evidence": [{"what": "e", "source": "s", "at": None}],
           "ruled_out": [], "fixes": [{"text": "t", "command": "c", "safety":
                                       "asks", "changes_results": False}],
           "victims": [], "related": []}
REPORT = {"schema": "muster.report/1", "run": "20261121-143519-7k2m",
          "version": "0.1.0", "command": ["train", "--x"], "directory": "/d",
          "host": "h", "started": "2026-11-21T14:35:19.000123Z",
          "duration_s": 1.5, "exit": {"code": 1, "origin": "program",
                                      "cause": "oom", "text": "t"},
          "notes": ["n"], "attempts": [
              {"attempt": 1, "started": "s", "failure": {
                  "cause": "oom", "rank": 1, "signal": "SIGKILL"},
               "decision": "d", "ranks": [{"rank": 0, "step": 7}]}],
          "time": {"total_s": 1.5, "step_s": 1},
          "training": {"step": 7, "steps_per_s": 4.5}, "findings": [FINDING],
          "next": {"text": "t", "command": "c"}}
MORE += [("handover_fuzz", bytes([number]) + text.encode())
         for number, text in (
             (0, json.dumps(REPORT)),
             (1, '{"schema": "muster.handed/1", "args": ["run"], '
              '"token": "t"}'),
             (2, "muster-ssh failed copy No space left on device"),
             (2, "muster-ssh need Linux aarch64"),
             (2, "Permission denied (publickey)."),
             (3, json.dumps({"outcome": "pass", "detail": "d", "lines": ["l"],
                             "data": "{}", "findings": [FINDING]})))]
MORE += [("explain_fuzz", bytes([first]) + json.dumps(REPORT).encode())
         for first in (0x7e, 0x08)]
SLOT = ((2).to_bytes(4, "little") + (10).to_bytes(4, "little") +
        b"".join(n.to_bytes(8, "little")
                 for n in (1, 2, 1, 7, 0, 5, 7, 70, 9, 3, 1, 1, 2)) +
        bytes(8) + bytes(8))
MORE += [("progress_fuzz", 4 * SLOT.ljust(128, b"\0")),
         ("progress_fuzz", b"".join(
             (SLOT[:32] + bytes([n]) + SLOT[33:]).ljust(128, b"\0")
             for n in (7, 8, 9, 10)))]


def main():
    vectors, out = map(pathlib.Path, sys.argv[1:3])
    count = 0
    for path in sorted(vectors.glob("*.json")):
        for vector in json.loads(path.read_text()):
            for i, (fuzzer, data) in enumerate(seeds(vector)):
                folder = out / fuzzer
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{vector['id']}-{i}").write_bytes(data)
                count += 1
    for i, (fuzzer, data) in enumerate(MORE):
        (out / fuzzer).mkdir(parents=True, exist_ok=True)
        (out / fuzzer / f"more-{i}").write_bytes(data)
        count += 1
    print(f"{count} seeds in {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
