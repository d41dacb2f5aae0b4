# SPDX-License-Identifier: Apache-2.0
"""What JAX and TensorFlow find in environments: reads a JSON list of
{"case": "jax:CLASS" or "tf:RESOLVER", "env": {…}} and prints the answers.
"""
import json
import os
import sys


def host_port(address):
    host, _, port = address.rpartition(":")
    return host, int(port)


def jax_class(name):
    """What one of JAX's ClusterEnv classes says, without its detection: some of
    them look for libtpu first."""
    from jax._src.clusters import cluster  # pylint: disable=all
    from jax._src import clusters  # noqa: F401
    kinds = {kind.__name__: kind for kind in cluster.ClusterEnv._cluster_types}
    kind = kinds[name]
    port = os.environ.get("JAX_COORDINATOR_PORT")
    try:
        address = kind.get_coordinator_address(timeout_secs=5,
                                               override_coordinator_port=port)
    except TypeError:
        address = kind.get_coordinator_address(timeout_secs=5)
    host, port = host_port(address)
    return {"coordinator_host": host, "coordinator_port": port,
            "num_processes": kind.get_process_count(),
            "process_id": kind.get_process_id()}


def tensorflow(name):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    from tensorflow.python.distribute import cluster_resolver as resolvers
    makers = {"Slurm": lambda: slurm(resolvers),
              "SageMaker": lambda: sagemaker().SageMakerClusterResolver(),
              "TFConfig": resolvers.TFConfigClusterResolver}
    resolver = makers[name]()
    spec = resolver.cluster_spec().as_dict()
    return {"spec": spec, "task_type": resolver.task_type,
            "task_id": resolver.task_id}


def sagemaker():
    from tensorflow.python.distribute.cluster_resolver import (
        sagemaker_cluster_resolver)
    return sagemaker_cluster_resolver


def slurm(resolvers):
    # One GPU a task stands for its slot: without GPUs the peer divides by 0.
    tasks = max(int(part.split("(")[0]) for part in
                os.environ["SLURM_STEP_TASKS_PER_NODE"].split(","))
    return resolvers.SlurmClusterResolver(gpus_per_node=tasks, gpus_per_task=1,
                                          auto_set_gpu=False)


def main():
    answers = []
    surroundings = dict(os.environ)
    for question in json.load(sys.stdin):
        peer, name = question["case"].split(":")
        os.environ.clear()
        os.environ.update({**surroundings, **question["env"]})
        try:
            answers.append((jax_class if peer == "jax" else tensorflow)(name))
        except Exception as error:  # what a user would see
            answers.append({"error": f"{type(error).__name__}: {error}"})
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
