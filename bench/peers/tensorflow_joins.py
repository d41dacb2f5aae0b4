#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MultiWorkerMirroredStrategy by TF_CONFIG, and one all-reduce of 4 MB."""
import start_signal
import tensorflow as tf

FLOATS = 1 << 20

start_signal.wait_for_start()
strategy = tf.distribute.MultiWorkerMirroredStrategy()


@tf.function
def reduce():
    return strategy.reduce(tf.distribute.ReduceOp.SUM,
                           strategy.run(lambda: tf.ones(FLOATS)), axis=None)


assert float(reduce()[0]) == strategy.num_replicas_in_sync
start_signal.stay()
