#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JAX's and TensorFlow's own resolvers and ours on the same environments, field
by field. Every difference has a reason, and no reason is left over.

  peers_detect_test.py [--write docs/reference/peer-resolvers.md]
"""
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "tests" / "interop"), str(SOURCE / "tests/fakes")]
# pylint: disable=wrong-import-position
from http_fakes import Fake, tpu_vm  # noqa: E402
from interop_python import interop_python  # noqa: E402

SLURM = {"SLURM_JOB_ID": "12345", "SLURM_PROCID": "2", "SLURM_LOCALID": "0",
         "SLURM_NODEID": "1", "SLURM_NTASKS": "3", "SLURM_STEP_NUM_TASKS": "3",
         "SLURM_STEP_TASKS_PER_NODE": "2,1"}
TF_CONFIG = json.dumps({
    "cluster": {"chief": ["10.0.0.1:2222"],
                "worker": ["10.0.0.2:2222", "10.0.0.3:2222"],
                "ps": ["10.0.0.4:2222"]},
    "task": {"type": "worker", "index": 1}})
ORTE = "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911"
ORTE6 = "1314521088.0;tcp6://[fe80::b9b:ac5d:9cf0:b858]:43370"
OMPI = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "1",
        "OMPI_COMM_WORLD_LOCAL_RANK": "1"}


def tf_config(cluster, **task):
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task})}



# name, environment, peer, profile of ours
CASES = [
    ("Slurm, plain names", {**SLURM, "SLURM_STEP_NODELIST": "n[1-2]"},
     "jax:SlurmCluster", "jax"),
    ("Slurm, names with a suffix",
     {**SLURM, "SLURM_STEP_NODELIST": "n[1-2]-ib0"}, "jax:SlurmCluster",
     "jax"),
    ("Slurm, JAX_COORDINATOR_PORT",
     {**SLURM, "SLURM_STEP_NODELIST": "n[1-2]",
      "JAX_COORDINATOR_PORT": "1234"}, "jax:SlurmCluster", "jax"),
    ("Slurm, two brackets in a name",
     {**SLURM, "SLURM_STEP_NODELIST": "rack[0-1]n[7]"}, "jax:SlurmCluster",
     "jax"),
    ("Open MPI 4", {"OMPI_MCA_orte_hnp_uri": ORTE, **OMPI}, "jax:OmpiCluster",
     "jax"),
    ("Open MPI 4, IPv6", {"OMPI_MCA_orte_hnp_uri": ORTE6, **OMPI},
     "jax:OmpiCluster", "jax"),
    ("Open MPI 5",
     {"PMIX_NAMESPACE": "prterun-h-3874047@1", **OMPI,
      "PMIX_SERVER_URI41": "prterun-h-3874047@0.0;tcp4://10.0.0.5:49157"},
     "jax:OmpiCluster", "jax"),
    ("TPU pods on GKE", {"TPU_WORKER_HOSTNAMES": "127.0.0.1,127.0.0.2",
                         "TPU_WORKER_ID": "1"}, "jax:GkeTpuCluster", "jax"),
    ("TPU pods on GKE, two slices",
     {"TPU_WORKER_HOSTNAMES": "127.0.0.3,127.0.0.4", "TPU_WORKER_ID": "1",
      "MEGASCALE_COORDINATOR_ADDRESS": "127.0.0.1:8080",
      "MEGASCALE_NUM_SLICES": "2", "MEGASCALE_SLICE_ID": "1"},
     "jax:GkeTpuCluster", "jax"),
    ("TPU pods of LeaderWorkerSet",
     {"TPU_PROCESS_ADDRESSES": "127.0.0.1:8476,127.0.0.2:8476",
      "TPU_WORKER_HOSTNAMES": "127.0.0.1,127.0.0.2", "TPU_WORKER_ID": "1"},
     "jax:GkeTpuCluster", "jax"),
    ("TPU pods on GKE, no worker id",
     {"TPU_WORKER_HOSTNAMES": "127.0.0.1,127.0.0.2"},
     "jax:GkeTpuCluster", "jax"),
    ("TPU VM", {"metadata": "1"}, "jax:GceTpuCluster", "jax"),
    ("TF_CONFIG", {"TF_CONFIG": TF_CONFIG}, "tf:TFConfig", "tf"),
    ("TF_CONFIG, index as text",
     tf_config({"worker": ["a:1", "b:1"]}, type="worker", index="1"),
     "tf:TFConfig", "tf"),
    ("TF_CONFIG, IPv6",
     tf_config({"worker": ["[2001:db8::1]:1", "[2001:db8::2]:1"]},
               type="worker", index=0), "tf:TFConfig", "tf"),
    ("TF_CONFIG, one task",
     tf_config({"chief": ["a:1"]}, type="chief", index=0), "tf:TFConfig",
     "tf"),
    ("TF_CONFIG, one address twice",
     tf_config({"worker": ["a:1", "a:1"]}, type="worker", index=0),
     "tf:TFConfig", "tf"),
    ("TF_CONFIG, index out of range",
     tf_config({"worker": ["a:1", "b:1"]}, type="worker", index=2),
     "tf:TFConfig", "tf"),
    ("SageMaker", {"SM_HOSTS": '["algo-2", "algo-1"]',
                   "SM_CURRENT_HOST": "algo-2"}, "tf:SageMaker", "tf"),
    ("SageMaker, a host that is not in the list",
     {"SM_HOSTS": '["algo-1", "algo-2"]', "SM_CURRENT_HOST": "algo-9"},
     "tf:SageMaker", "tf"),
    ("Slurm, two tasks on the first node",
     {**SLURM, "SLURM_STEP_NODELIST": "n[1-2]"}, "tf:Slurm", "tf"),
    ("Slurm, n9 before n10",
     {**SLURM, "SLURM_STEP_NODELIST": "n[9-10]"}, "tf:Slurm", "tf"),
]

# (case, field), or a case of which ours differs in every field -> why.
REASONS = {
    ("Slurm, names with a suffix", "coordinator_host"):
        "§8.7: the peer's parser of the first host loses what follows the "
        "bracket",
    ("Slurm, two brackets in a name", "coordinator_host"):
        "§8.7: the peer's parser of the first host loses later brackets",
    ("Open MPI 4, IPv6", "coordinator_host"):
        "§8.13: before a port an IPv6 address needs brackets",
    ("Open MPI 5", "error"):
        "§8.9: the peer does not know PRRTE's variables",
    ("TPU pods on GKE, no worker id", "error"):
        "§8.15: the peer stumbles over the absent variable, ours names it and "
        "the conditions for GKE to set it",
    "SageMaker, a host that is not in the list":
        "§7 current host not in SM_HOSTS: the peer trains alone and says "
        "nothing",
    "TF_CONFIG, one address twice":
        "§8.6: the peer does not validate TF_CONFIG",
    "TF_CONFIG, index out of range":
        "§8.6: the peer does not validate TF_CONFIG",
    ("Slurm, n9 before n10", "spec"):
        "§7 order of Slurm hosts: the peer sorts names as text, so ranks sit "
        "on other hosts than those where Slurm put them",
}


def ours(variables, profile):
    environment = {"PATH": "/usr/bin:/bin", **variables}
    if "GCE_METADATA_IP" not in variables:
        environment["NO_GCE_CHECK"] = "true"
    done = subprocess.run(
        [os.environ["MUSTER_BINARY"], "resolve", "--output", "json",
         "--profile", profile], env=environment, text=True,
        capture_output=True, timeout=30)
    document = json.loads(done.stdout)
    if done.returncode != 0:
        return {"refused": document["cause"]}
    host, _, port = (document["coordinator"] or {"value": ":0"})[
        "value"].rpartition(":")
    spec = {}
    for member in document["members"]:
        if member["address"]:
            spec.setdefault(member["task"], []).append(
                member["address"]["value"])
    self = document["members"][document["self"]["value"]]
    return {"found": f"rank {document['self']['value']} of "
                     f"{document['size']['value']} at {host}:{port}",
            "coordinator_host": host, "coordinator_port": int(port),
            "num_processes": document["size"]["value"],
            "process_id": document["self"]["value"], "spec": spec,
            "task_type": self["task"], "task_id": self["index"]}


def ask_peer(python, questions):
    """The answers of one framework, from one interpreter."""
    done = subprocess.run(
        [python, SOURCE / "tests/interop/peers_detect.py"],
        input=json.dumps(questions), text=True, capture_output=True,
        timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def compare():
    """Rows (case, peer, field, theirs, ours, reason) of the table."""
    pythons = {"jax": interop_python("jax", "requests"),
               "tf": interop_python("tensorflow")}
    with Fake(tpu_vm(worker=1, hosts=("127.0.0.1", "127.0.0.2"))) as fake:
        asked = []
        for name, variables, peer, profile in CASES:
            variables = dict(variables)
            if variables.pop("metadata", None) or "Gke" in peer:
                variables["GCE_METADATA_IP"] = fake.address
            asked.append((name, variables, peer, profile))
        for framework, python in pythons.items():
            mine = [one for one in asked if one[2].startswith(framework)]
            answers = ask_peer(python, [
                {"case": peer, "env": variables}
                for _, variables, peer, _ in mine])
            for (name, variables, peer, profile), theirs in zip(mine, answers):
                our = ours(variables, profile)
                for field, value in theirs.items():
                    yield (name, peer, field, value,
                           our.get("refused") or our.get(field, our["found"]),
                           REASONS.get((name, field), REASONS.get(name, "")))


def text(value):
    return value if isinstance(value, str) else json.dumps(value)


def document(rows):
    lines = ["<!-- Generated by tests/interop/peers_detect_test.py. -->",
             "# muster resolve compared with JAX and TensorFlow", "",
             "The resolvers of jax 0.8.2 and tensorflow 2.21 and `muster "
             "resolve` in the same", "environment. The last column says why "
             "they differ.", "",
             "| environment | peer | field | peer says | muster says | why |",
             "|---|---|---|---|---|---|"]
    lines += [f"| {name} | `{peer}` | {field} | `{text(theirs)}` | "
              f"`{text(mine)}` | {reason} |"
              for name, peer, field, theirs, mine, reason in rows]
    return "\n".join(lines) + "\n"


def main():
    rows = list(compare())
    bad = [row for row in rows if (row[3] != row[4]) != bool(row[5])]
    for name, peer, field, theirs, mine, reason in bad:
        print(f"{name}, {peer}, {field}: theirs {theirs}, ours {mine}, "
              f"reason {reason or 'none'}")
    if "--write" in sys.argv:
        pathlib.Path(sys.argv[sys.argv.index("--write") + 1]).write_text(
            document(rows))
    elif (SOURCE / "docs/reference/peer-resolvers.md").read_text() != \
            document(rows):
        print("docs/reference/peer-resolvers.md is old: run this with --write")
        bad.append(None)
    print(f"{len(rows)} fields of {len(CASES)} environments compared")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
