#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster resolve` as people use it: what it exports is evaluated by a shell and
by Python, its document is read back, the library gives the same answer."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests" / "fakes"))
# pylint: disable=wrong-import-position
from http_fakes import (METADATA, Answer, Fake, certificate,  # noqa: E402
                        kubernetes, service_account, tpu_vm)

MUSTER = os.environ["MUSTER_BINARY"]
ANSWER = pathlib.Path(os.environ["MUSTER_BUILD"], "resolve_answer")
BASE = {"PATH": f"{pathlib.Path(MUSTER).parent}:/usr/bin:/bin",
        "HOME": "/nonexistent", "NO_GCE_CHECK": "true"}

SLURM = {"SLURM_JOB_ID": "12345", "SLURM_PROCID": "2", "SLURM_LOCALID": "0",
         "SLURM_NODEID": "1", "SLURM_STEP_NUM_TASKS": "3",
         "SLURM_STEP_NODELIST": "n[9-10]", "SLURM_STEP_TASKS_PER_NODE": "2,1"}
TF_CONFIG = {"TF_CONFIG": json.dumps({
    "cluster": {"chief": ["h0:2222"], "worker": ["h1:2222", "h2:2222"],
                "ps": ["h3:2222"]}, "task": {"type": "worker", "index": 1}})}
GKE = {"TPU_WORKER_HOSTNAMES": "t-0.svc,t-1.svc", "TPU_WORKER_ID": "1"}
TORCH = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "h0",
         "MASTER_PORT": "29500"}
JAX = {"JAX_COORDINATOR_ADDRESS": "h0:1234", "JAX_NUM_PROCESSES": "2",
       "JAX_PROCESS_ID": "1"}
MPI = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1",
       "OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://10.9.9.9:1"}
ENVIRONMENTS = {"slurm": SLURM, "tf": TF_CONFIG, "gke": GKE, "torch": TORCH,
                "jax": JAX, "mpi": MPI}


def run(argv, variables):
    return subprocess.run(argv, env={**BASE, **variables}, text=True, timeout=30,
                          stdin=subprocess.DEVNULL, capture_output=True)


def resolve(*argv, **variables):
    return run([MUSTER, "resolve", *argv], variables)


def document(*argv, **variables):
    done = resolve("--output", "json", *argv, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def values(doc):
    """The cluster without where its values came from."""
    def bare(sourced):
        return sourced and sourced["value"]
    return {"size": bare(doc["size"]), "self": bare(doc["self"]),
            "coordinator": bare(doc["coordinator"]),
            "members": [(m["rank"], m["task"], m["index"], bare(m["address"]))
                        for m in doc["members"]]}


class Export(unittest.TestCase):
    def names(self, what, **variables):
        """The environment after a shell has evaluated what is exported."""
        done = run(["bash", "-c", f'eval "$(muster resolve --export {what})"'
                    " && env -0"], variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        entries = (e.partition("=") for e in done.stdout.split("\0") if e)
        return {name: value for name, _, value in entries}

    def test_of_tensorflow_is_its_own_description(self):
        config = json.loads(self.names("tf", **SLURM)["TF_CONFIG"])
        self.assertEqual(config["cluster"],
                         {"worker": ["n9:2222", "n9:2223", "n10:2222"]})
        self.assertEqual(config["task"], {"type": "worker", "index": 2})

    def test_of_jax_and_torch_say_rank_size_and_coordinator(self):
        names = self.names("jax", **SLURM)
        self.assertEqual(names["JAX_COORDINATOR_ADDRESS"], "n9:17345")
        names = self.names("torch", **SLURM)
        self.assertEqual([names[n] for n in ("RANK", "WORLD_SIZE", "MASTER_ADDR",
                                             "MASTER_PORT", "LOCAL_RANK")],
                         ["2", "3", "n9", "17345", "0"])

    def test_of_torch_xla_names_the_workers(self):
        names = self.names("torch_xla", **GKE)
        self.assertEqual(names["PJRT_DEVICE"], "TPU")
        self.assertEqual(names["TPU_PROCESS_ADDRESSES"],
                         "t-0.svc:8476,t-1.svc:8476")
        self.assertEqual(names["CLOUD_TPU_TASK_ID"], "1")

    def test_of_a_shell_has_all_of_them(self):
        names = self.names("shell", **SLURM)
        for name in ("TF_CONFIG", "JAX_PROCESS_ID", "RANK"):
            self.assertIn(name, names)

    def test_of_python_is_a_cell_that_runs(self):
        cell = resolve("--export", "python", **SLURM).stdout
        done = run([sys.executable, "-c", cell +
                    "\nprint(os.environ['RANK'], os.environ['TF_CONFIG'])"], {})
        self.assertEqual(done.returncode, 0, done.stderr)
        rank, config = done.stdout.split(" ", 1)
        self.assertEqual(rank, "2")
        self.assertEqual(json.loads(config)["task"]["index"], 2)
        self.assertIn("jax.distributed.initialize('n9:17345', 3, 2)", cell)

    def test_survives_every_character(self):
        odd = "a'b\"c$HOME`id`\\d"
        config = json.dumps({"cluster": {odd: ["h0:1"], "worker": ["h1:1"]},
                             "task": {"type": odd, "index": 0}})
        names = self.names("tf", TF_CONFIG=config)
        self.assertEqual(json.loads(names["TF_CONFIG"])["task"]["type"], odd)
        cell = resolve("--export", "python", TF_CONFIG=config).stdout
        done = run([sys.executable, "-c",
                    cell + "\nprint(os.environ['TF_CONFIG'])"], {})
        self.assertEqual(json.loads(done.stdout)["task"]["type"], odd)

    def test_has_its_findings_on_stderr(self):
        for flags in (("--export", "torch"), ("--spec",)):
            done = resolve(*flags, SLURM_JOB_ID="7", SLURM_NTASKS="2")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("warning[scheduler-env-misread]", done.stderr)
            self.assertIn("start the program with srun",
                          " ".join(done.stderr.split()))
            self.assertNotIn("warning", done.stdout)

    def test_that_nobody_knows_is_refused(self):
        done = resolve("--export", "caffe", **SLURM)
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage-invalid", done.stderr)


class Document(unittest.TestCase):
    def test_is_read_back_by_every_verb(self):
        for name, variables in ENVIRONMENTS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                first = document(**variables)
                path = pathlib.Path(folder, "cluster.json")
                path.write_text(json.dumps(first))
                again = document("--cluster", str(path))
                self.assertEqual(values(again), values(first))
                plan = run([MUSTER, "run", "--cluster", str(path), "--dry-run",
                            "--", "true"], {})
                self.assertEqual(plan.returncode, 0, plan.stderr)

    def test_spec_is_what_python_reads(self):
        done = resolve("--spec", **TF_CONFIG)
        self.assertEqual(eval(done.stdout),  # pylint: disable=eval-used
                         json.loads(TF_CONFIG["TF_CONFIG"])["cluster"])


class Flags(unittest.TestCase):
    def test_that_describe_a_cluster_hold_for_run_too(self):
        for flags in (["--source", "slurm"], ["--profile", "torch"]):
            done = run([MUSTER, "run", *flags, "--dry-run", "--", "true"],
                       {**SLURM, **GKE} if flags[0] == "--source" else SLURM)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = run([MUSTER, "run", "--source", "slurn", "--dry-run", "--",
                    "true"], SLURM)
        self.assertIn("did you mean `slurm`", done.stderr)

    def test_source_forces_one(self):
        doc = document("--source", "gke-tpu", **{**SLURM, **GKE})
        self.assertEqual(doc["size"]["value"], 2)
        self.assertEqual(document(**{**SLURM, **GKE})["size"]["value"], 3)

    def test_check_self_compares_interfaces(self):
        done = resolve("--check-self", "--hosts", "203.0.113.1:1,203.0.113.2:1",
                       "--rank", "0")
        self.assertIn("net-wrong-endpoint", done.stderr)
        done = resolve("--check-self", "--hosts", "127.0.0.1:8001,127.0.0.1:8002",
                       "--rank", "0")
        self.assertIn("check-self: rank 0", done.stdout)

    def test_verbose_says_what_was_overridden(self):
        done = resolve("-v", **{**SLURM, **GKE})
        self.assertRegex(done.stdout, r"slurm +used: size 3 \(env SLURM_STEP_NUM")
        self.assertRegex(done.stdout, r"gke-tpu +read, overridden: size 2 \(env TPU")
        self.assertRegex(done.stdout, r"tf-config +TF_CONFIG is not set")


class Terminal(unittest.TestCase):
    def test_gets_no_control_characters_and_no_secrets(self):
        secrets = {"CLOUDSDK_AUTH_ACCESS_TOKEN": "top-secret",
                   "https_proxy": "http://me:top-secret@proxy:1",
                   "KAGGLE_DATA_PROXY_TOKEN": "top-secret"}
        for variables in (
                {"TF_CONFIG": '{"cluster": {"w\x1b[31m": ["a\x1b]0;x\x07:1"]}}'},
                {"TPU_NAME": "x\x1b[2J"}, {"MASTER_ADDR": "\x1b[31m"},
                {"SLURM_PROCID": "\x1b[31m"}, {**TORCH, "MASTER_PORT": "\x9b31m"},
                {"SM_HOSTS": '["\x1b[31m"]', "SM_CURRENT_HOST": "\x1b[1m"}, SLURM):
            done = resolve("-v", **variables, **secrets)
            both = done.stdout + done.stderr
            self.assertNotRegex(both, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")
            self.assertNotIn("top-secret", both)


class Network(unittest.TestCase):
    def test_is_not_asked_where_variables_suffice(self):
        answers = {METADATA: Answer("")}
        for name, variables in ENVIRONMENTS.items():
            with self.subTest(name), Fake(answers) as fake:
                done = resolve(GCE_METADATA_HOST=fake.address, NO_GCE_CHECK="",
                               KUBERNETES_SERVICE_HOST="127.0.0.1",
                               KUBERNETES_SERVICE_PORT=str(fake.port),
                               JOB_COMPLETION_INDEX="0", **variables)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(fake.requests, [])

    def test_that_hangs_everywhere_is_given_up(self):
        hang = {path: Answer(fault="hang") for path in
                (*tpu_vm(), METADATA + "project/project-id",
                 METADATA + "instance/zone",
                 METADATA + "instance/service-accounts/default/token",
                 "/v2/projects/p/locations/z/nodes/t")}
        with Fake(hang) as fake:
            done = resolve(
                "--tpu", "t", "--project", "p", "--zone", "z", NO_GCE_CHECK="",
                GCE_METADATA_HOST=fake.address,
                CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU=f"http://{fake.address}/")
        self.assertIn("net-timeout-filtered", done.stderr)


class Library(unittest.TestCase):
    def same(self, **variables):
        there = run([MUSTER, "resolve", "--output", "json"], variables)
        here = run([ANSWER], variables)
        self.assertEqual(there.returncode, 0, there.stdout + there.stderr)
        self.assertEqual(here.returncode, 0, here.stderr)
        document_, answer = json.loads(there.stdout), json.loads(here.stdout)
        for key in ("members", "self", "coordinator", "size", "one_host"):
            self.assertEqual(answer[key], document_[key], key)
        return answer

    def test_gives_the_same_answer_from_variables(self):
        for name, variables in ENVIRONMENTS.items():
            with self.subTest(name):
                self.assertGreater(self.same(**variables)["size"]["value"], 1)

    def test_gives_the_same_answer_from_a_metadata_server(self):
        with Fake(tpu_vm(worker=1)) as fake:
            answer = self.same(GCE_METADATA_HOST=fake.address, NO_GCE_CHECK="")
            paths = [target for _, target, _ in fake.requests]
        self.assertEqual(answer["size"]["value"], 2)
        self.assertEqual(len(paths), 2 * len(set(paths)), "each asks once")

    def test_gives_the_same_answer_from_kubernetes(self):
        with tempfile.TemporaryDirectory() as folder:
            tls = certificate(folder)
            service_account(folder)
            with Fake(kubernetes(), flavor=False, tls=tls) as fake:
                answer = self.same(KUBERNETES_SERVICE_HOST="127.0.0.1",
                                   KUBERNETES_SERVICE_PORT=str(fake.port),
                                   MUSTER_SERVICE_ACCOUNT=folder,
                                   HOSTNAME="train-1-x",
                                   JOB_COMPLETION_INDEX="1")
        self.assertEqual(answer["coordinator"]["value"], "train-0.svc:55527")


if __name__ == "__main__":
    unittest.main()
