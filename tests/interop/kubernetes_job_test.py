#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two processes with what Kubernetes gives the pods of an Indexed Job: the
command, the variables, the mounts and the names of examples/kubernetes, on two
network namespaces. The API server is a fake that knows this one job."""
import json
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("support", "lab", "fakes")]
import http_fakes as fakes  # noqa: E402
import namespaces  # noqa: E402
from interop_python import interop_python, skip  # noqa: E402
from muster_test import MUSTER, MusterTest  # noqa: E402

DEBIAN_PYTHON = "/usr/bin/python3"
READ_YAML = ("import json, sys, yaml; "
             "print(json.dumps(list(yaml.safe_load_all(sys.stdin))))")
FILE = HERE.parents[1] / "examples" / "kubernetes" / "train.yaml"
ACCOUNT = "/run/secrets/kubernetes.io/serviceaccount"
NAMESPACE = "team"


def documents():
    """What the file describes, by kind."""
    done = subprocess.run([DEBIAN_PYTHON, "-c", READ_YAML], text=True,
                          input=FILE.read_text(), capture_output=True)
    if done.returncode:
        skip(f"{DEBIAN_PYTHON} has no yaml: apt-get install python3-yaml")
    return {one["kind"]: one for one in json.loads(done.stdout)}


if reason := namespaces.why_not():
    skip(reason)
PYTHON = str(interop_python("torch"))
PROGRAM = str(HERE / "all_reduce_program.py")
KINDS = documents()
JOB = KINDS["Job"]
POD = JOB["spec"]["template"]["spec"]
CONTAINER = POD["containers"][0]
NAME = JOB["metadata"]["name"]


class Pod:
    """Pod number `index` of the job: a host of the lab, and its API server."""

    def __init__(self, test, host, index):
        self.host = host
        self.index = index
        self.host.name = f"{NAME}-{index}"
        for other in test.lab.hosts:
            name = f"{NAME}-{other.rank}"
            host.known[f"{name}.{POD['subdomain']}"] = other.address
        host.known[host.name] = host.address
        self.folder = test.folder / host.name
        self.folder.mkdir()
        tls = fakes.certificate(self.folder)
        fakes.service_account(self.folder)
        self.api = test.enterContext(namespaces.inside(
            host.space,
            lambda: fakes.Fake(self.answers(), flavor=False, tls=tls)))
        self.mount()

    def answers(self):
        """As the API server has it: a pod's name is not its host's name."""
        space = f"/api/v1/namespaces/{NAMESPACE}/"
        pod = {"metadata": {
            "name": f"{self.host.name}-x7k2p", "labels": {"job-name": NAME},
            "ownerReferences": [{"kind": "Job", "name": NAME,
                                 "controller": True}]},
            "spec": POD, "status": {"podIP": self.host.address}}
        mine = "pods?fieldSelector=status.podIP%3D" + self.host.address
        return {space + mine: fakes.Answer({"items": [pod]}),
                space + "services": fakes.Answer(
                    {"items": [KINDS["Service"]]}),
                f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{NAME}":
                    fakes.Answer(JOB)}

    def mount(self):
        """A /run of its own with the service account and the secrets."""
        lines = ["mount -t tmpfs none /run", f"mkdir -p {ACCOUNT}",
                 f"cp {self.folder}/ca.crt {self.folder}/token "
                 f"{self.folder}/namespace {ACCOUNT}"]
        for volume in POD["volumes"]:
            place = next(one["mountPath"] for one in CONTAINER["volumeMounts"]
                         if one["name"] == volume["name"])
            mode = volume["secret"]["defaultMode"]
            lines += [f"mkdir -p {place}",
                      f"printf %s '{'0123456789abcdef' * 2}' >{place}/token",
                      f"chmod {mode:o} {place}/token"]
        self.host.prepare = lines

    def start(self, command):
        environment = {
            "PATH": f"{pathlib.Path(MUSTER).parent}:/usr/bin:/bin",
            "HOME": "/root", "HOSTNAME": self.host.name,
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(self.api.port),
            "JOB_COMPLETION_INDEX": str(self.index)}
        environment.update({one["name"]: one["value"]
                            for one in CONTAINER["env"]})
        # The words of the file, but for the image's own python and program.
        words = CONTAINER["command"]
        at = words.index("python")
        return self.host.start(
            words[:at] + command, cwd=self.folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=environment)


class KubernetesJob(MusterTest):
    def setUp(self):
        super().setUp()
        namespaces.sweep()
        self.lab = self.enterContext(
            namespaces.Lab(1, JOB["spec"]["parallelism"]))

    def play(self, *command):
        """Exit code and words of each pod."""
        pods = [Pod(self, host, host.rank) for host in self.lab.hosts]
        running = [pod.start(list(command)) for pod in pods]
        words = [one.communicate(timeout=300)[0] for one in running]
        return [(one.returncode, said) for one, said in zip(running, words)]

    def test_ranks_in_two_pods_reduce(self):
        done = self.play(PYTHON, PROGRAM)
        for rank, (code, said) in enumerate(done):
            self.assertEqual(code, 0, said)
            self.assertIn(f"rank {rank} of 2 on {NAME}-{rank}: sum 3 to 3",
                          said)
        self.assertIn("all 2 ranks succeeded, exit code 0", done[0][1])

    def test_a_rank_that_fails_ends_both_pods_with_its_code(self):
        for code, said in self.play(PYTHON, PROGRAM, "1"):
            self.assertEqual(code, 7, said)
            self.assertIn("rank 1: the program exited with an error",
                          said)

    def test_a_pod_that_gets_sigterm_ends_both_with_130(self):
        # The parent of a rank is the guardian, then come warden and agent.
        agent = ('cut -d" " -f4 "/proc/$(cut -d" " -f4 /proc/$PPID/stat)/stat"')
        for code, said in self.play("sh", "-c", 'test "$RANK" = 0 || '
                                    f'kill -TERM "$({agent})"; sleep 60'):
            self.assertEqual(code, 130, said)

    def test_a_pod_that_is_taken_away_does_not_end_the_job(self):
        ignore, fail = JOB["spec"]["podFailurePolicy"]["rules"]
        self.assertEqual(ignore["action"], "Ignore")
        self.assertEqual(
            ignore["onPodConditions"],
            [{"type": "DisruptionTarget", "status": "True"}])
        # The other pods of its run have no such condition, and end with it.
        self.assertEqual(fail["action"], "FailJob")
        self.assertEqual(fail["onExitCodes"],
                         {"operator": "NotIn", "values": [75, 130]})

    def test_the_role_of_the_file_covers_what_is_asked(self):
        pods = [Pod(self, host, host.rank) for host in self.lab.hosts]
        running = [pod.start(["/bin/true"]) for pod in pods]
        for one in running:
            self.assertIn("exit code 0", one.communicate(timeout=120)[0])
        granted = {(group, resource, verb)
                   for rule in KINDS["Role"]["rules"]
                   for group in rule["apiGroups"]
                   for resource in rule["resources"]
                   for verb in rule["verbs"]}
        asked = {self.right(target) for pod in pods
                 for _, target, _ in pod.api.requests}
        self.assertTrue(asked)
        self.assertLessEqual(asked, granted)

    @staticmethod
    def right(target):
        """What reading "/apis/batch/v1/namespaces/team/jobs/train" needs:
        ("batch", "jobs", "get")"""
        parts = target.split("?")[0].strip("/").split("/")
        group = parts[1] if parts[0] == "apis" else ""
        resource, *name = parts[parts.index("namespaces") + 2:]
        return group, resource, "get" if name else "list"


if __name__ == "__main__":
    unittest.main(verbosity=2)
