// SPDX-License-Identifier: Apache-2.0
// Ranks as MPI libraries other than Open MPI tell them (Intel MPI, MPICH,
// MVAPICH), and Horovod. They tell no address.
#include "resolve/platform/slurm.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::mpi_env {
namespace {

Match Speak(const Request&, const sys::Host& host) {
  const sys::Env& env = host.env;
  if (!FirstText(env, {"PMI_SIZE", "PMI_RANK", "MV2_COMM_WORLD_SIZE",
                       "MV2_COMM_WORLD_RANK", "HOROVOD_RANK"})) {
    return Silent(
        "none of PMI_SIZE, PMI_RANK, MV2_COMM_WORLD_SIZE and HOROVOD_RANK is "
        "set");
  }
  if (IsSet(env, "OMPI_COMM_WORLD_SIZE")) {
    return Silent("Open MPI's mpirun sets more specific variables");
  }
  // srun sets PMI_* too; mpiexec that srun started has numbers of its own.
  const bool pmi = !FirstText(
      env, {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "HOROVOD_RANK"});
  const Text size = TextVariable(env, "PMI_SIZE");
  const Text tasks = FirstText(env, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"});
  const bool by_srun = pmi && (!size || !tasks || size->value == tasks->value);
  return IsSet(env, "SLURM_PROCID") && IsSlurmStep(env) && by_srun
             ? Silent(
                   "srun set PMI_RANK and PMI_SIZE, and sets more specific "
                   "variables")
             : Speaks();
}

Result<Claim> Read(const Request&, const sys::Host& host) {
  const sys::Env& env = host.env;
  Claim claim{.source = "mpi-env"};
  MUSTER_ASSIGN(
      claim.process_id,
      FirstNumber(env, {"PMI_RANK", "OMPI_COMM_WORLD_RANK",
                        "MV2_COMM_WORLD_RANK", "PMIX_RANK", "HOROVOD_RANK"}));
  MUSTER_ASSIGN(claim.num_processes,
                FirstNumber(env,
                            {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE",
                             "MV2_COMM_WORLD_SIZE", "HOROVOD_SIZE"},
                            1));
  MUSTER_ASSIGN(
      claim.local_process_id,
      FirstNumber(env, {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK",
                        "MV2_COMM_WORLD_LOCAL_RANK", "HOROVOD_LOCAL_RANK"}));
  MUSTER_ASSIGN(
      claim.local_num_processes,
      FirstNumber(env, {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
                        "MV2_COMM_WORLD_LOCAL_SIZE", "HOROVOD_LOCAL_SIZE"}));
  if (!claim.process_id || !claim.num_processes) {
    return PartlySet({.names = {"PMI_RANK", "PMI_SIZE"},
                      .setters = "mpiexec sets both for each process"},
                     host);
  }
  claim.coordinator_host = TextVariable(env, "MASTER_ADDR");
  MUSTER_ASSIGN(claim.coordinator_port, PortVariable(env, "MASTER_PORT"));
  MUSTER_TRY(CheckNumbers(claim));
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "mpi-env",
    .precedence = 330,
    .starts_agents = true,
    .doc = "Intel MPI, MPICH, MVAPICH and Horovod ranks; without addresses",
    .reads =
        "PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS, "
        "MV2_COMM_WORLD_*, HOROVOD_RANK, HOROVOD_SIZE, HOROVOD_LOCAL_RANK, "
        "HOROVOD_LOCAL_SIZE, MASTER_ADDR, MASTER_PORT",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::mpi_env
