// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <array>

#include "base/text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kColumn = 25;  // where descriptions begin
constexpr std::size_t kWidth = 80;

constexpr const char* kOverview =
    R"(muster brings a training cluster from a list of addresses to a finished
training run, or reports the exact reason why not.

  muster run -n 2 -- python train.py         train on two ranks of this host
  muster run --hosts a,b --start ssh -- CMD  start it on these hosts, over ssh
  muster resolve                             the cluster and rank of this host
  muster check                               can this host train?
  muster explain train.log                   why did it fail?
)";

constexpr const char* kRun =
    R"(Start CMD on every member of the cluster, monitor it, and restart it from its
newest checkpoint after a retryable failure.

  muster run -n 2 -- python train.py
  muster run --hosts a,b --start ssh -- python train.py (over ssh, from here)
  muster run --hosts a,b --token-file FILE -- python train.py   (on every host)
  muster run -n 4 --env OMP_NUM_THREADS=1 --dry-run -- ./train
  muster run --tpu NAME --copy . -- python train.py     (on its workers, by ssh)

Everything after `--` is the command. muster runs it without a shell.

Exit codes: the status of the first failing rank (1 to 123; 124 and above as the
program set it), 128 + N if signal N ended it, 75 a host was lost, 93 no
progress over restarts, 124 a time limit or a hang, 125 the run could not be set
up, 126 the command is not executable, 127 it was not found, 130 interrupted: by
Ctrl-C, or by the SIGTERM that a preempted job or a drained pod receives. The
last line names the origin of the exit code.
)";

constexpr const char* kResolve =
    R"help(Print the cluster of this process: members, rank, coordinator, accelerators and
ports, each with its source. Starts nothing.

  muster resolve
  muster resolve -v
  muster resolve --hosts 10.0.0.1:8476,10.0.0.2:8476
  muster resolve --output json >cluster.json
  eval "$(muster resolve --export tf)"

muster reads all sources and uses the first that applies: flags, MUSTER_*,
torch, LSF, MPI, Slurm, AWS Batch, SkyPilot, SageMaker, TF_CONFIG, JAX, PET_*,
TPU pods on GKE, a Kubernetes Job, a TPU by name, Colab, Kaggle, the metadata of
a TPU VM, the TPU of this host, otherwise a single process. It queries the
network only when no variable describes the cluster.

Exit codes: 1 access denied (credentials, permissions, --require), 2 invalid
command line or cluster description, 3 a source did not respond.
)help";

constexpr const char* kCheck =
    R"(Find problems that would stop a run on this host before it starts: names,
routes, ports, proxies, limits, memory, disks, accelerators, versions. Changes
nothing, except for a small file that --checkpoints writes and removes, and
opens no accelerator without --open. Started on every host of the list at the
same time, it also tests the connections between all members in both directions
on the ports of the run, and compares versions, the files of the command and the
data.

  muster check
  muster check network host.memory             groups, or single checks
  muster check --hosts a:8476,b:8476 --checkpoints /mnt/ck --data /mnt/data
  muster check --hosts a:8476,b:8476 -- python train.py   same on all hosts?
  muster check --output json >check.json
  muster check --tpu NAME                      on each worker of a TPU, by ssh
  muster check --list
  muster check --target grpc://10.0.0.2:8470   which server responds there?
  muster check --framework tf                  which task responds where?
  muster check tpu                             would a program start on the TPU?
  muster check accelerator --open              do devices open and add right?
  muster check program step.mlir --on v5e:2x4  does it compile and fit there?
  muster check program b64.mlir b128.mlir --on v5e:2x4   the largest that fits
  muster check fit --params 1.3B --activations 4GB --on v5e-8

Each check ends as ok, warn, FAIL, skip (with the reason) or broken (the check
itself failed; not a pass). Exit codes: 0 no errors, 1 a finding of severity
error, 2 invalid command line, 3 a check was broken. --output jsonl prints a
line as each check ends.

--target and --framework identify servers other than muster by their protocol:
TensorFlow workers, coordination services of TensorFlow and JAX, torch's
TCPStore, TPU runtimes, gRPC, HTTP, TLS, SSH. Probes only read: they never join
a job or change anything.

`check tpu` follows the steps of a program that starts on a TPU: resolve,
connect, initialize, replicas, cluster spec. A failed step skips the following
ones. `check accelerator` shows the chips and GPUs of this host, the processes
that use them, the driver and the plug-in.

Neither opens a device by default. With --open, both ask for confirmation, open
the devices of this host in a child process that is killed after --timeout,
count them, run one all-reduce over all of them, and close them. No other
process can use them in the meantime; devices in use are not opened.

`check fit` estimates the memory of a training step on a device (weights,
gradients, optimizer states, activations) from its sizes and compares it with
the usable memory. It needs no program and no compiler.

`check program` compiles StableHLO text, bytecode, a jax.export artifact or a
step.json of muster::pjrt with the TPU compiler (libtpu, from `pip install
libtpu`). It neither needs nor opens a TPU. Without the compiler, the result is
skip, exit code 3. A SavedModel or GraphDef of TensorFlow is checked by its
operations, without a compiler and without TensorFlow. With several files, or
several sizes of one, it reports the largest that fits. With two --plugin, it
reports what only one of the compilers accepts.
)";

constexpr const char* kExplain =
    R"(Report why a training run failed: one named cause with its evidence, or
"unknown" with the possible causes and how to confirm each. Reports no failure
in healthy logs. Or print what a cause means and how to fix it.

  muster explain train.log
  muster explain rank0.log rank1.log       all ranks show the root cause
  muster explain runs/ID
  kubectl logs POD | muster explain - --exit 137
  muster explain train.log --note 'it hangs after the first epoch'
  muster explain peer-died                 what a cause means
  muster explain --list

Inputs: logs, folders (including run folders), `-`, tar, zip, gzip and zstd,
Kaggle logs, notebooks; no input with --exit, --note or --inspect-host. A note
supports a cause but does not prove it: without a log it leads to possible
causes only. Unreadable inputs are warnings, and listed in `unread` of
--output json. Exit codes: 0 explained, 3 nothing could be read.
)";

constexpr const char* kBundle =
    R"(Pack the folder of a run, or logs, into one archive that `muster explain` reads
anywhere. Removes tokens, keys, passwords and URL signatures, keeps only known
environment variables, and prints what it removed.

  muster bundle runs/latest
  muster bundle rank0.log rank1.log --archive failed.tar.gz
  muster explain failed.tar.gz

Exit codes: 1 the archive cannot be written, 2 there is nothing to pack.
)";

constexpr const char* kTpu =
    R"(Create a Cloud TPU, wait until it is ready, connect to it and delete it, without
the Google Cloud SDK. Shows your identity, what would prevent the creation, the
TPUs and queued resources, and what each zone offers.

  muster tpu auth                          which identity, and is it valid?
  muster tpu doctor --zone us-west4-a --type v5litepod-8
                                           what would prevent the creation?
  muster tpu types --zone us-west4-a       accelerator types
  muster tpu versions --zone us-west4-a    runtime versions
  muster tpu create NAME --type v5litepod-8 --zone us-west4-a --wait
  muster tpu create NAME --type v5litepod-8 --any-zone us-west4-a,europe-west4-b
                                           the first zone with capacity
  muster tpu list --all-zones
  muster tpu describe NAME --zone us-west4-a
  muster tpu wait NAME                     until it is ready and reachable
  muster tpu ssh NAME                      a shell on worker 0
  muster tpu ssh NAME --worker all -- CMD  a command on each worker, no shell
  muster tpu notebook NAME                 Jupyter on the TPU, opened here
  muster tpu stop NAME                     also start
  muster tpu delete NAME
  muster tpu queued list                   also describe, delete
  muster tpu reap                          delete leftovers created from here

Commands that create, bill or delete ask first. Ctrl-C reports which operations
continue in the cloud and how to stop them. Every creation is recorded first
(~/.local/state/muster/tpu.jsonl), so that a repeated command finds it again and
`reap` deletes exactly the leftovers.

muster connects to workers with the system's ssh and the keys of gcloud
(~/.ssh/google_compute_engine, google_compute_known_hosts). A remote command
ends with this one; the exit code is the largest of all workers, 255 for a
worker that could not be reached.

Credentials: CLOUDSDK_AUTH_ACCESS_TOKEN, the file that
GOOGLE_APPLICATION_CREDENTIALS names, that of `gcloud auth application-default
login`, Colab's, the service account of this machine. muster never prints a
token. Exit codes: 0 success, 1 access denied, 2 invalid command line or unknown
project, 3 no response, 75 no quota or capacity, 130 interrupted.
)";

constexpr std::array<VerbText, 6> kVerbs{{
    {Verb::kRun, "run",
     "start a command on every member, monitor it and restart it", kRun},
    {Verb::kResolve, "resolve",
     "print the members, this rank and the coordinator, with sources",
     kResolve},
    {Verb::kCheck, "check",
     "find problems that would stop a run, before it starts", kCheck},
    {Verb::kExplain, "explain",
     "report why a run failed, or what a cause means", kExplain},
    {Verb::kBundle, "bundle",
     "pack a run or logs without secrets, to explain them elsewhere", kBundle},
    {Verb::kTpu, "tpu",
     "create, list and delete Cloud TPUs; open a shell or notebook", kTpu},
}};

// "  HEAD   text", the text wrapped beside or below it.
std::string HelpRow(const std::string& head, const std::string& text,
                    std::size_t column) {
  const std::string below = "\n" + std::string(column, ' ');
  const bool fits = head.size() + 4 <= column;
  return "  " + head +
         (fits ? std::string(column - 2 - head.size(), ' ') : below) +
         Join(Wrap(text, kWidth - column), below) + "\n";
}

// "-y, --yes", "--type T". Any other name stands in the description.
std::string NameOf(const CLI::Option& option) {
  std::vector<std::string> names;
  if (!option.get_snames().empty()) {
    names.push_back("-" + option.get_snames().front());
  }
  if (!option.get_lnames().empty()) {
    names.push_back("--" + option.get_lnames().front());
  }
  const std::string type = option.get_type_name();
  return Join(names, ", ") + (type.empty() ? "" : " " + type);
}

// Details first, then every flag of every group: there are too many for the
// other order. An option of the group "" is hidden.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string,
                        CLI::AppFormatMode) const override {
    const std::string details = app->get_footer();
    std::string text = details.empty() ? app->get_description() : details;
    const auto verbs = app->get_subcommands({});
    text += verbs.empty() ? "" : "\nSub-commands:\n";
    for (const CLI::App* verb : verbs) {
      text +=
          HelpRow(verb->get_name(), verb->get_description(), kColumn / 2 + 1);
    }
    for (const std::string& group : app->get_groups()) {
      const auto options = app->get_options([&](const CLI::Option* option) {
        return option->get_group() == group && option->nonpositional();
      });
      if (!group.empty() && !options.empty()) {
        text += make_group(group, false, options);
      }
    }
    return text;
  }
  std::string make_option(const CLI::Option* option, bool) const override {
    return HelpRow(NameOf(*option), option->get_description(), kColumn);
  }
};

}  // namespace

std::span<const VerbText> VerbTexts() {
  return kVerbs;
}

const char* OverviewText() {
  return kOverview;
}

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter() {
  return std::make_shared<HelpFormatter>();
}

}  // namespace muster::cli
