#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The columns of tpu_ops.txt that an installed TensorFlow knows.

  make_tpu_ops.py LIST         writes the table made of LIST to stdout
  make_tpu_ops.py --check      exit 1 where tpu_ops.txt beside it says otherwise

LIST has the sources A to D, flags, types and constant inputs of operations, as
tpu_ops.txt describes them; with --check they are those of tpu_ops.txt itself.
"""
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# pylint: disable=wrong-import-position
from tensorflow.core.framework import op_def_pb2, types_pb2  # noqa: E402
from tensorflow.python.client import pywrap_tf_session  # noqa: E402
from tensorflow.python.util import pywrap_xla_ops  # noqa: E402

TABLE = pathlib.Path(__file__).parent / "tpu_ops.txt"


def operations():
    """name -> OpDef of all that this TensorFlow has registered."""
    known = op_def_pb2.OpList()
    known.ParseFromString(pywrap_tf_session.TF_GetBuffer(
        pywrap_tf_session.TF_GetAllOpList()))
    return {op.name: op for op in known.op}


def rows(path):
    """The head of the file, and name -> its five columns."""
    head, table = [], {}
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            head.append(line)
        elif line:
            columns = line.split("\t")
            table[columns[0]] = columns
    return head, table


def of_strings(op):
    return any(arg.type == types_pb2.DT_STRING
               for arg in list(op.input_arg) + list(op.output_arg))


def several(arg):
    return bool(arg.number_attr or arg.type_list_attr)


def place(op, name):
    """"1" for the second input, "-1" for the last one behind a list."""
    args = list(op.input_arg)
    at = [arg.name for arg in args].index(name)
    if not any(several(arg) for arg in args[:at + 1]):
        return str(at)
    if not any(several(arg) for arg in args[at:]):
        return str(at - len(args))
    return ""


def constants(op, column):
    """"multiples:1" for "multiples"."""
    if op is None or column == "-":
        return "-"
    names = [one.split(":")[0] for one in column.split(",")]
    known = {arg.name for arg in op.input_arg}
    placed = [f"{name}:{place(op, name)}" for name in names
              if name in known and place(op, name)]
    return ",".join(placed) or "-"


def made(listed):
    ops = operations()
    kernels = set(pywrap_xla_ops.get_cpu_kernel_names())
    for name in sorted(set(ops) | set(listed) | kernels):
        _, sources, flags, types, consts = listed.get(name, [name] + ["-"] * 4)
        op = ops.get(name)
        sources = sources.replace("E", "").replace("-", "")
        sources = sources + ("E" if name in kernels else "") or "-"
        flags = [flag for flag in flags.split(",")
                 if flag not in ("-", "stateful", "string")]
        if op is not None and op.is_stateful:
            flags.append("stateful")
        if op is not None and of_strings(op):
            flags.append("string")
        yield "\t".join([name, sources, ",".join(flags) or "-", types,
                         constants(op, consts)])


def main():
    if sys.argv[1:] != ["--check"]:
        print("\n".join(made(rows(pathlib.Path(sys.argv[1]))[1])))
        return
    told = rows(TABLE)[1]
    wrong = [line for line in made(told)
             if "\t".join(told.get(line.split("\t")[0], [])) != line]
    print("\n".join(wrong[:20]))
    print(f"{len(told)} operations, {len(wrong)} not as TensorFlow says")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
