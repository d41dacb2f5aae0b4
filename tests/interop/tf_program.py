#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ordinary TensorFlow program: MultiWorkerMirroredStrategy, a loop of its
own, checkpoints of its own.

Knows nothing of muster. Any launcher that sets TF_CONFIG can start it.

    tf_program.py FOLDER [STEPS]
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

GLOBAL_BATCH = 128
SAVE_EVERY = 50
LEARNING_RATE = 0.1


def make_data():
    """Ten clouds of points that a small network can tell apart."""
    generator = np.random.default_rng(7)
    labels = generator.integers(10, size=4096)
    points = generator.normal(size=(10, 64))[labels]
    points += 0.5 * generator.normal(size=points.shape)
    return points.astype(np.float32), labels


class Network(tf.Module):
    """Two dense layers."""

    def __init__(self):
        super().__init__()
        random = tf.random.Generator.from_seed(1)

        def variable(value):
            return tf.Variable(value,
                               aggregation=tf.VariableAggregation.MEAN)

        self.first = variable(random.normal((64, 128)) * 0.1)
        self.first_bias = variable(tf.zeros(128))
        self.second = variable(random.normal((128, 10)) * 0.1)
        self.second_bias = variable(tf.zeros(10))

    def __call__(self, points):
        hidden = tf.nn.relu(points @ self.first + self.first_bias)
        return hidden @ self.second + self.second_bias


def make_step(strategy, network):
    """The training step of all replicas, compiled."""

    def replica_step(points, labels):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels, network(points))
            loss = tf.reduce_mean(losses)
        variables = network.trainable_variables
        for variable, slope in zip(variables,
                                   tape.gradient(loss, variables)):
            variable.assign_sub(LEARNING_RATE * slope)  # the replicas' mean
        return loss

    @tf.function
    def step(batch):
        losses = strategy.run(replica_step, args=batch)
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

    return step


def make_batches(strategy, first_step):
    """This worker's share of every global batch, from a step on."""
    points, labels = make_data()
    data = (tf.data.Dataset.from_tensor_slices((points, labels))
            .shuffle(len(labels), seed=3, reshuffle_each_iteration=False)
            .repeat().batch(GLOBAL_BATCH).skip(first_step))
    return iter(strategy.experimental_distribute_dataset(data))


class Checkpoints:
    """Every worker saves, as the strategy asks; only the chief's are kept."""

    def __init__(self, folder, network, worker):
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.checkpoint = tf.train.Checkpoint(network=network, step=self.step)
        own = os.path.join(folder, f"worker{worker}")
        self.newest = tf.train.latest_checkpoint(
            os.path.join(folder, "worker0"))
        self.manager = tf.train.CheckpointManager(self.checkpoint, own, 2)

    def resume(self):
        if self.newest:
            self.checkpoint.restore(self.newest).assert_consumed()
        return int(self.step)

    def save(self, step):
        self.step.assign(step)
        self.manager.save(checkpoint_number=step)


def main():
    folder = sys.argv[1]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    worker = strategy.cluster_resolver.task_id
    with strategy.scope():
        network = Network()
    checkpoints = Checkpoints(folder, network, worker)
    begin = checkpoints.resume()
    if begin and worker == 0:
        print(f"resumed at step {begin}", flush=True)
    train_step = make_step(strategy, network)
    batches = make_batches(strategy, begin)
    loss = 0.0  # of a run that had nothing left to do
    for step in range(begin + 1, steps + 1):
        loss = train_step(next(batches))
        if step % SAVE_EVERY == 0:
            checkpoints.save(step)
    if worker == 0:
        print(f"finished step {steps}, loss {float(loss):.4f}", flush=True)


if __name__ == "__main__":
    main()
