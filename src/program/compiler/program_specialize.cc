// SPDX-License-Identifier: Apache-2.0
#include "program/compiler/program_specialize.h"

#include <string_view>

#include "base/text.h"
#include "pjrt/program/module.h"
#include "sys/process/run_program.h"

namespace muster::program {
namespace {

// Arguments: the file, the symbol, its size. Sides are expressions of the
// symbol, written by jax itself.
constexpr std::string_view kScript = R"py(
import sys
import jax
from jax import export
from jax.extend import mlir
path, symbol, size = sys.argv[1:]
with open(path, "rb") as file:
    exported = export.deserialize(bytearray(file.read()))
names = {"__builtins__": {}, symbol: int(size), "max": max, "min": min,
         "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b}
shapes = [jax.ShapeDtypeStruct([eval(str(side), names) for side in one.shape],
                               one.dtype) for one in exported.in_avals]
args, named = jax.tree_util.tree_unflatten(exported.in_tree, shapes)
fixed = export.export(jax.jit(exported.call),
                      platforms=exported.platforms)(*args, **named)
sys.stdout.buffer.write(mlir.refine_polymorphic_shapes(
    fixed.mlir_module().encode(), enable_shape_assertions=True,
    validate_static_shapes=True))
)py";

}  // namespace

Result<std::string> Specialise(const SymbolicProgram& program,
                               Deadline deadline) {
  const sys::Program python{
      .argv = {program.python, "-c", std::string(kScript), program.file,
               program.symbol, std::to_string(program.size)},
      // It only rewrites the program: no accelerator is to be looked for.
      .variables = {{"JAX_PLATFORMS", "cpu"}},
      .most_bytes = pjrt::kModuleLimit};
  MUSTER_ASSIGN(sys::ProgramAnswer answer, sys::RunProgram(python, deadline));
  if (!answer.Succeeded()) {
    return Error(Cause::kOpUnsupported,
                 "jax cannot create `" + Printable(program.file) + "` with " +
                     program.symbol + " = " + std::to_string(program.size) +
                     ": " + program.python + " ended with " + answer.Ending());
  }
  return std::move(answer.output);
}

}  // namespace muster::program
