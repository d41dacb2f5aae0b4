# SPDX-License-Identifier: Apache-2.0
"""What `muster check program` is to say of tests/data/graphs.

`compiler`: whether TensorFlow's own compiler takes the function (XLA for CPUs,
jit_compile=True); None with `why`: it cannot be asked the same question.
"""
from typing import NamedTuple


class Row(NamedTuple):
    verdict: str
    causes: tuple = ()
    says: tuple = ()
    compiler: bool | None = None
    why: str = ""
    flags: tuple = ()


OP = ("op-unsupported",)
V1 = "a TensorFlow graph 1 is no function"


def good(*says, **more):
    return Row("pass", (), says, True, **more)


def bad(*says):
    return Row("fail", OP, says, False)


TABLE = {
    "sin": good('"operations": 2'),
    "dense_step": good(),
    "attention": good(),
    "embedding": good(),
    "scan": good(),
    "conv": good(),
    "asserting": good(),
    "strings_folded": good(),
    "tile_by_shape": good(),
    "unsorted_segment_sum": good(),
    "cholesky": good(),
    "float64": good("float64, which a TPU emulates in software"),
    "bincount": good("TensorFlow 2.21 has an XLA kernel"),
    "boxes": good("`NonMaxSuppressionV3`"),
    "where": good("data-dependent sizes", "`Where`"),
    "boolean_mask": good("data-dependent sizes"),
    "unique": good("data-dependent sizes", "`Unique`"),
    "py_function": bad("`EagerPyFunc` calls Python"),
    "numpy_function": bad("`PyFunc` calls Python"),
    "callback_in_loop": bad("node `while/PyFunc` of `while_body_"),
    "callback_in_branch": bad("node `cond/EagerPyFunc` of `cond_true_"),
    "callback_deep": bad("of `__inference_innermost_"),
    "callback_unused": bad("`EagerPyFunc`"),
    "strings": bad("`AsString`", "`StringLength`"),
    "strings_compared": bad("`Equal`, node `Equal`"),
    "string_argument": bad("input `name` is a string"),
    "decode_jpeg": bad("`DecodeJpeg`", "Dataset.map"),
    "lookup": bad("`LookupTableFindV2` has no kernel"),
    "printing": bad("`PrintV2`", "print the returned values"),
    "segment_sum": bad("`SegmentSum` has no kernel",
                       "tf.math.unsorted_segment_sum"),
    "timestamp": bad("`Timestamp` has no kernel"),
    "eigenvalues": bad("`Eig` has no kernel", "tf.linalg.eigh"),
    "sparse": bad("`SparseTensorDenseMatMul` has no kernel"),
    "ragged": bad("`RaggedTensorToTensor` has no kernel"),
    "tile_at_random": bad("`multiples` must be known", "is random"),
    "tile_by_argument": Row(
        "warn", OP, ("comes from an argument",),
        why="a call of jit_compile knows its arguments' values, a step of a "
            "TPU does not"),
    "complex128": Row(
        "warn", OP, ("no kernel for TPUs with `complex128`",),
        why="CPUs have complex128"),
    "dataset_inside": Row(
        "warn", OP, ("a function of the step contains the input pipeline",),
        compiler=False),
    "v1_training": Row("pass", says=("checkpoints", "`SaveV2`"), why=V1),
    "v1_training_by_reference": Row(
        "fail", OP, ("`VariableV2` has no kernel", "use_resource=True"),
        why=V1),
    "v1_loop": Row("pass", why=V1),
    "v1_input_pipeline": Row("warn", ("python-input-on-remote-tpu",),
                             ("`FlatMapDataset`", "`IteratorGetNext`"),
                             why=V1),
    "v1_replicated": Row("pass", says=('"marked": true',), why=V1),
    "v1_outside": Row("pass", says=("marked for outside compilation",),
                      why="only a TPU leaves operations to the host"),
    "keras_fit": good(),
    "model": Row("fail", OP,
                 ("input `jpeg` is a string", "signature `fit`",
                  "`images` (?, 28, 28, 1)", "2.21.0"),
                 why="its signatures are asked one by one"),
    "unsigned": Row("fail", OP, ("`PyFunc`", "function `__inference_good_"),
                    why="its functions are in the table alone"),
    "sin.pbtxt": Row("pass", says=("GraphDef (text)",), why="sin"),
    "callback_in_loop.pbtxt": Row("fail", OP, ("while/PyFunc",),
                                  why="callback_in_loop"),
}
