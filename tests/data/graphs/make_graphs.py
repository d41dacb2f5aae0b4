#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Graphs that tests/system/graph_verdict_test.py judges, made with TensorFlow
2.21: a GraphDef of each function below, and SavedModels.

  make_graphs.py [FOLDER]       default: beside this script
"""
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "tensorflow"
# pylint: disable=wrong-import-position
import tensorflow as tf  # noqa: E402
from google.protobuf import text_format  # noqa: E402
from tensorflow.core.protobuf import saved_model_pb2  # noqa: E402

F32 = tf.float32
# name -> (function, its arguments).
PROGRAMS = {}


def program(*args):
    def add(function):
        PROGRAMS[function.__name__] = (function, args)
        return function
    return add


X = tf.ones([4, 8])
SQUARE = tf.eye(4)
BOXES = tf.ones([5, 4])
TABLE = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2], tf.int64),
                                        tf.constant([1, 2], tf.int64)), 0)
WEIGHT = tf.Variable(tf.ones([8, 8]))


@program(X)
def sin(x):
    return tf.sin(x)


@program(X)
def dense_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ WEIGHT)))
    WEIGHT.assign_sub(0.1 * tape.gradient(loss, WEIGHT))
    return loss


@program(X)
def attention(x):
    scores = tf.nn.softmax(x @ tf.transpose(x))
    return tf.nn.dropout(scores @ x, 0.1)


@program(tf.ones([16, 8]), tf.constant([1, 2, 3]))
def embedding(table, rows):
    return tf.reduce_sum(tf.gather(table, rows))


@program(X)
def scan(x):
    return tf.map_fn(tf.reduce_sum, x)


@program(tf.ones([1, 8, 8, 3]), tf.ones([3, 3, 3, 4]))
def conv(images, kernel):
    out = tf.nn.max_pool2d(tf.nn.conv2d(images, kernel, 1, "SAME"), 2, 2,
                           "VALID")
    return tf.image.resize(out, [8, 8], "nearest")


@program(X)
def py_function(x):
    return tf.py_function(lambda t: t + 1, [x], F32)


@program(X)
def numpy_function(x):
    return tf.numpy_function(lambda t: t + 1, [x], F32)


@program(X)
def callback_in_loop(x):
    def body(i, value):
        value = tf.numpy_function(lambda t: t, [value], F32)
        return i + 1, tf.ensure_shape(value, [4, 8])
    return tf.while_loop(lambda i, _: i < 3, body, (0, x))[1]


@program(X)
def callback_in_branch(x):
    return tf.cond(tf.reduce_sum(x) > 0,
                   lambda: tf.py_function(lambda t: t, [x], F32), lambda: x)


@tf.function
def innermost(x):
    return tf.py_function(lambda t: t, [x], F32)


@tf.function
def middle(x):
    return innermost(x) + 1


@program(X)
def callback_deep(x):
    return middle(x) * 2


@program(X)
def callback_unused(x):
    tf.py_function(lambda t: t, [x], F32)
    return x + 1


@program(X)
def strings(x):
    return tf.strings.length(tf.strings.as_string(x))


@program(X)
def strings_compared(x):
    return tf.equal(tf.strings.as_string(x), "1")


@program(X)
def strings_folded(x):
    return x + tf.cast(tf.strings.length(tf.strings.join(["a", "b"])), F32)


@program(tf.constant("a"), X)
def string_argument(name, x):
    del name
    return x + 1


@program(tf.io.encode_jpeg(tf.zeros([4, 4, 3], tf.uint8)))
def decode_jpeg(image):
    return tf.io.decode_jpeg(image, channels=3)


@program(tf.constant([1, 2], tf.int64))
def lookup(keys):
    return TABLE.lookup(keys)


@program(X)
def printing(x):
    tf.print("x is", x)
    return x


@program(X)
def asserting(x):
    tf.debugging.Assert(tf.reduce_all(x > 0), [x, "positive"])
    return tf.debugging.check_numerics(x, "finite")


@program(X)
def where(x):
    return tf.where(x > 0)


@program(X)
def boolean_mask(x):
    return tf.reduce_sum(tf.boolean_mask(x, x > 0))


@program(tf.range(9))
def unique(x):
    return tf.unique(x)[0]


@program(BOXES, tf.ones([5]))
def boxes(corners, scores):
    return tf.image.non_max_suppression(corners, scores, 3)


@program(X, tf.constant(3))
def tile_by_argument(x, times):
    return tf.tile(x, tf.stack([times, 1]))


@program(X)
def tile_by_shape(x):
    return tf.tile(x, tf.stack([tf.shape(x)[0], 1]))


@program(X)
def tile_at_random(x):
    times = tf.random.uniform([], 1, 3, tf.int32)
    return tf.tile(x, tf.stack([times, 1]))


@program(tf.cast(X, tf.float64))
def float64(x):
    return x @ tf.transpose(x)


@program(tf.cast(X, tf.complex128))
def complex128(x):
    return x * 2


@program(X, tf.constant([0, 0, 1, 2]))
def segment_sum(x, segments):
    return tf.math.segment_sum(x, segments)


@program(X, tf.constant([0, 0, 1, 2]))
def unsorted_segment_sum(x, segments):
    return tf.math.unsorted_segment_sum(x, segments, 3)


@program(X)
def timestamp(x):
    return x + tf.cast(tf.timestamp(), F32)


@program(SQUARE)
def eigenvalues(x):
    return tf.linalg.eig(x)[0]


@program(SQUARE)
def cholesky(x):
    return tf.linalg.cholesky(x)


@program(tf.sparse.from_dense(SQUARE), X)
def sparse(a, x):
    return tf.sparse.sparse_dense_matmul(a, x)


@program(tf.constant([1, 2, 2]))
def bincount(x):
    return tf.math.bincount(x, minlength=5, maxlength=5)


@program(X)
def ragged(x):
    rows = tf.RaggedTensor.from_row_splits(tf.range(5), [0, 2, 5])
    return x, rows.to_tensor()


@tf.function
def accumulate(x):
    for value in tf.data.Dataset.range(3):
        x += tf.cast(value, F32)
    return x


@program(X)
def dataset_inside(x):
    return accumulate(x)


def keras_step():
    """What Model.fit runs for each batch, and a batch."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Input((28, 28, 1), 64), layers.Conv2D(4, 3),
        layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D(),
        layers.Flatten(), layers.Dropout(0.2), layers.Dense(10)])
    model.compile(
        "adam", tf.keras.losses.SparseCategoricalCrossentropy(
            from_logits=True), metrics=["accuracy"], jit_compile=False)
    images, labels = tf.zeros([64, 28, 28, 1]), tf.zeros([64], tf.int32)
    model.train_on_batch(images, labels)

    def keras_fit(images, labels):
        return model.train_step((images, labels))
    return keras_fit, (images, labels)


PROGRAMS["keras_fit"] = keras_step()


# Of TensorFlow 1, as graphs.

def v1_graph(build):
    with tf.Graph().as_default() as graph:
        build()
        return graph.as_graph_def()


def v1_training():
    x = tf.compat.v1.placeholder(F32, [4, 8], name="x")
    with tf.compat.v1.variable_scope("m", use_resource=True):
        w = tf.compat.v1.get_variable("w", [8, 2])
    loss = tf.reduce_sum(x @ w)
    tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    tf.compat.v1.train.Saver()
    tf.compat.v1.global_variables_initializer()


def v1_training_by_reference():
    x = tf.compat.v1.placeholder(F32, [None, 8], name="x")
    w = tf.compat.v1.get_variable("w", [8, 2], use_resource=False)
    tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(
        tf.reduce_sum(x @ w))


def v1_loop():
    tf.compat.v1.disable_control_flow_v2()
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    tf.compat.v1.enable_control_flow_v2()


def v1_input_pipeline():
    def rows():
        yield 1.0
    data = tf.data.Dataset.from_generator(rows, F32, []).batch(4)
    value = tf.compat.v1.data.make_one_shot_iterator(
        tf.data.Dataset.range(8).batch(4)).get_next()
    other = tf.compat.v1.data.make_initializable_iterator(data).get_next()
    tf.sin(tf.cast(value, F32), name="step")
    tf.cos(other, name="of_python")


def v1_replicated():
    def step(x):
        return tf.sin(x)
    x = tf.compat.v1.placeholder(tf.string, [], name="text")
    fed = tf.strings.to_number(x, name="parsed")
    return tf.compat.v1.tpu.rewrite(step, [fed])


def v1_outside():
    def step(x):
        host = tf.compat.v1.tpu.outside_compilation(
            lambda t: tf.py_function(lambda q: q, [t], F32), x)
        return tf.sin(host)
    x = tf.compat.v1.placeholder(F32, [4], name="x")
    return tf.compat.v1.tpu.rewrite(step, [x])


V1 = {build.__name__: build
      for build in (v1_training, v1_training_by_reference, v1_loop,
                    v1_input_pipeline, v1_replicated, v1_outside)}


# SavedModels.

class Small(tf.Module):
    """A convolutional model with its fit step, as one writes it by hand."""

    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(tf.random.stateless_normal([3, 3, 1, 4],
                                                             [1, 2]))
        self.dense = tf.Variable(tf.zeros([14 * 14 * 4, 10]))
        self.step = tf.Variable(0, dtype=tf.int64)

    def logits(self, images):
        hidden = tf.nn.relu(tf.nn.conv2d(images, self.kernel, 1, "SAME"))
        hidden = tf.nn.max_pool2d(hidden, 2, 2, "VALID")
        return tf.reshape(hidden, [-1, 14 * 14 * 4]) @ self.dense

    @tf.function(input_signature=[
        tf.TensorSpec([None, 28, 28, 1], F32, "images")])
    def serve(self, images):
        return {"probabilities": tf.nn.softmax(self.logits(images))}

    @tf.function(input_signature=[
        tf.TensorSpec([64, 28, 28, 1], F32, "images"),
        tf.TensorSpec([64], tf.int32, "labels")])
    def fit(self, images, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels, self.logits(images)))
        for variable, gradient in zip(
                (self.kernel, self.dense),
                tape.gradient(loss, (self.kernel, self.dense))):
            variable.assign_sub(0.1 * gradient)
        self.step.assign_add(1)
        return {"loss": loss}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "jpeg")])
    def serve_files(self, jpeg):
        images = tf.map_fn(
            lambda one: tf.reshape(tf.cast(tf.io.decode_jpeg(one, 1), F32),
                                   [28, 28, 1]), jpeg,
            fn_output_signature=tf.TensorSpec([28, 28, 1], F32))
        return {"probabilities": tf.nn.softmax(self.logits(images))}

    @property
    def signatures(self):
        return {"serving_default": self.serve, "fit": self.fit,
                "files": self.serve_files}


class Unsigned(tf.Module):
    """Without a signature: its functions are judged."""

    @tf.function(input_signature=[tf.TensorSpec([4], F32)])
    def good(self, x):
        return tf.sin(x)

    @tf.function(input_signature=[tf.TensorSpec([4], F32)])
    def bad(self, x):
        return tf.numpy_function(lambda t: t, [x], F32)


def as_graph(function, args):
    """The GraphDef of the function traced for its arguments."""
    graph = tf.function(function).get_concrete_function(*args).graph
    return graph.as_graph_def()


def small(graph):
    """Without what no reader here looks at."""
    for function in graph.library.function:
        for node in function.node_def:
            node.ClearField("experimental_debug_info")
    for node in graph.node:
        node.ClearField("experimental_debug_info")
        for name in ("config_proto", "_output_shapes"):
            node.attr.pop(name, None)
    for function in graph.library.function:
        for node in function.node_def:
            for name in ("config_proto", "_output_shapes"):
                node.attr.pop(name, None)
    return graph


def save(module, folder, signatures=None):
    tf.saved_model.save(module, str(folder), signatures=signatures)
    model = saved_model_pb2.SavedModel()
    path = folder / "saved_model.pb"
    model.ParseFromString(path.read_bytes())
    for meta in model.meta_graphs:
        small(meta.graph_def)
        meta.meta_info_def.ClearField("stripped_op_list")
    return model


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1
                       else pathlib.Path(__file__).parent)
    for name, (function, args) in PROGRAMS.items():
        graph = small(as_graph(function, args))
        (out / f"{name}.pb").write_bytes(
            graph.SerializeToString(deterministic=True))
        if name in ("sin", "callback_in_loop"):
            (out / f"{name}.pbtxt").write_text(
                text_format.MessageToString(graph))
    for name, build in V1.items():
        (out / f"{name}.pb").write_bytes(
            small(v1_graph(build)).SerializeToString(deterministic=True))
    model = Small()
    for name, module, signatures in (("model", model, model.signatures),
                                     ("unsigned", Unsigned(), None)):
        with tempfile.TemporaryDirectory() as made:
            saved = save(module, pathlib.Path(made) / name, signatures)
        (out / name).mkdir(exist_ok=True)
        (out / name / "saved_model.pb").write_bytes(
            saved.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
