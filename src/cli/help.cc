// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/command_line.h"
#include "settings/settings.h"

namespace muster::cli {
namespace {

constexpr std::string_view kOverview =
    R"(muster brings a training cluster from a list of addresses to a finished
training run, or tells the exact reason why not.

  muster run -n 2 -- python train.py         train on two ranks of this host
  muster run --hosts a,b --start ssh -- CMD  start it on these hosts, over ssh
  muster resolve                             which cluster is this, who am I?
  muster check                               can this host train?
  muster explain train.log                   why did it fail?

Sub-commands:
  run        start a command on every member, watch it, restart what is worth it
  resolve    print members, own rank and coordinator, each with its source
  check      look for what would stop a run on this host, before it starts
  explain    say why a run failed, or what a cause means
  bundle     pack a run or logs without secrets, to be explained elsewhere
  tpu        which TPUs are there, and a shell or a notebook on them

Flags:
  -h, --help     this text; `muster run --help` for a sub-command
  --version      print the version
)";

constexpr std::string_view kResolve =
    R"help(Print which cluster this process belongs to: members, own rank, coordinator,
accelerators and ports, each with its source. Nothing is started.

  muster resolve
  muster resolve -v
  muster resolve --hosts 10.0.0.1:8476,10.0.0.2:8476
  muster resolve --output json >cluster.json
  eval "$(muster resolve --export tf)"

All sources that speak here are read, the first is used: flags, MUSTER_*, torch,
LSF, MPI, Slurm, AWS Batch, SkyPilot, SageMaker, TF_CONFIG, JAX, PET_*, TPU pods
on GKE, a Kubernetes Job, a TPU by name, Colab, Kaggle, the metadata of a TPU
VM, the TPU of this host, else one process. The network is asked only when no
variable tells the cluster.

The exit code is 1 when it is refused (credentials, rights, --require), 2 for a
wrong command line or description of the cluster, 3 when no answer could be had.
)help";

constexpr std::string_view kResolveFlags =
    R"(  --export WHAT          print the environment for tf, jax, torch, torch_xla,
                         shell or python
  --spec                 print the map of tasks as TensorFlow does
  --check-self           this host owns the address of its task
  --require NAME==V      a package of the Python environment; may be repeated
  -v, --verbose          every source: matched or why not, what it said
)";

constexpr std::string_view kRun =
    R"(Start CMD on every member of the cluster, watch it, and restart it from its
newest checkpoint when a repeat can heal what happened.

  muster run -n 2 -- python train.py
  muster run --hosts a,b --start ssh -- python train.py (over ssh, from here)
  muster run --hosts a,b --token-file FILE -- python train.py   (on every host)
  muster run -n 4 --env OMP_NUM_THREADS=1 --dry-run -- ./train
  muster run --tpu NAME --copy . -- python train.py     (on its workers, by ssh)

Everything after `--` is the command. It does not pass a shell.

The exit code is the status of the first failing rank (1 to 123; 124 and above
as the program gave it), 128 + N when its signal was N, 75 when a host was lost,
93 without progress over restarts, 124 after a time limit or standstill, 125
when it could not be set up, 126 and 127 when the command is not executable or
not found, 130 when it was interrupted: by Ctrl-C, or by the SIGTERM that a
preempted job or a drained pod gets. The last line says who gave it.
)";

constexpr std::string_view kCheck =
    R"(Look for what would stop a run on this host, before it starts: names, routes,
ports, proxies, limits, memory, disks, accelerators, versions. Nothing is
changed but for a small file that --checkpoints writes and removes, and no
accelerator is opened without --open. Started on every host of the list at once,
it also tries every member from every other, both ways, on the ports of the run,
and compares versions, the files of the command and the data.

  muster check
  muster check network host.memory             groups, or single checks
  muster check --hosts a:8476,b:8476 --checkpoints /mnt/ck --data /mnt/data
  muster check --hosts a:8476,b:8476 -- python train.py   the same everywhere?
  muster check --output json >check.json
  muster check --tpu NAME                      on each worker of a TPU, by ssh
  muster check --list
  muster check --target grpc://10.0.0.2:8470   who answers there?
  muster check --framework tf                  which task answers where?
  muster check tpu                             would a program start on the TPU?
  muster check accelerator --open              do all open, and add right?
  muster check program step.mlir --on v5e:2x4  does it compile and fit there?
  muster check program b64.mlir b128.mlir --on v5e:2x4   the largest that fits
  muster check fit --params 1.3B --activations 4GB --on v5e-8

Each check ends as ok, warn, FAIL, skip (with the reason) or broken: it could
not be made, which is no pass. The exit code is 0 when all is well, 1 with a
finding of severity error, 2 for a wrong command line, 3 when something could
not be found out. --output jsonl prints a line as each check ends.

--target and --framework ask servers that are not muster's who they are, each in
its own protocol: workers of TensorFlow, coordination services of TensorFlow and
JAX, torch's TCPStore, TPU runtimes, gRPC, HTTP, TLS, SSH. Only what reads is
asked: nothing joins a job or changes anything there.

`check tpu` takes the steps of a program that starts on a TPU: resolved,
connected, can be initialised, replicas, cluster spec. A step that fails skips
those behind it. `check accelerator` shows the chips and GPUs of this host, who
holds them, driver and plug-in.

Neither opens one. With --open both ask, then open the devices of this host in a
child that is ended after --timeout, count them, add a number of each over all
(one all-reduce), and give them back. Nobody else can use them meanwhile; what
somebody holds is not opened.

`check fit` adds up what a training step keeps on a device (weights, gradients,
optimizer states, activations) from its sizes alone and compares it with the
usable memory: no program and no compiler is needed, and it is an estimate.

`check program` asks the compiler of TPUs (libtpu, from `pip install libtpu`)
about StableHLO text, bytecode, an artefact of jax.export or a step.json of
muster::pjrt: no TPU is needed and none is touched. Without the compiler the
answer is skip, exit code 3. A SavedModel or GraphDef of TensorFlow is judged by
its operations: no compiler and no TensorFlow are needed. Several files, or
several sizes of one: which is the largest that fits. --plugin twice: what only
one of the compilers takes.
)";

constexpr std::string_view kExplain =
    R"(Say why a training run failed: one named cause with its evidence, or
"unknown" with what remains and the observation that would decide. Silent on
healthy logs. Or print what a cause means and what heals it.

  muster explain train.log
  muster explain rank0.log rank1.log       all ranks together name the root
  muster explain runs/ID
  kubectl logs POD | muster explain - --exit 137
  muster explain train.log --note 'it hangs after the first epoch'
  muster explain peer-died                 what a cause means
  muster explain --list

Inputs: logs, folders (also of a run), `-`, tar, zip, gzip and zstd, Kaggle's
log, notebooks; none with --exit, --note or --inspect-host. A note is a witness
and no proof: without a log it leads to candidates. What could not be read is a
warning, and stands in `unread` of --output json. The exit code is 0 when there
is an answer, 3 when nothing could be read.
)";

constexpr std::string_view kBundle =
    R"(Pack the folder of a run, or logs, into one archive that `muster explain` reads
anywhere. Tokens, keys, passwords and signed parts of addresses are taken out,
of the environment only known variables stay, and what was removed is printed.

  muster bundle runs/latest
  muster bundle rank0.log rank1.log --archive failed.tar.gz
  muster explain failed.tar.gz

The exit code is 1 when the archive cannot be written, 2 when there is nothing
to pack.
)";

constexpr std::string_view kTpu =
    R"(Get a Cloud TPU, wait until it can be used, reach it, and give it back,
without the Google Cloud SDK: who asks, what would stop it, which TPUs and
queued resources there are, what each zone offers.

  muster tpu auth                          who am I, and is it believed?
  muster tpu doctor --zone us-west4-a --type v5litepod-8
                                           what would stop me from creating it?
  muster tpu types --zone us-west4-a       accelerator types
  muster tpu versions --zone us-west4-a    runtime versions
  muster tpu create NAME --type v5litepod-8 --zone us-west4-a --wait
  muster tpu create NAME --type v5litepod-8 --any-zone us-west4-a,europe-west4-b
                                           whichever has capacity first
  muster tpu list --all-zones
  muster tpu describe NAME --zone us-west4-a
  muster tpu wait NAME                     until it can really be used
  muster tpu ssh NAME                      a shell on worker 0
  muster tpu ssh NAME --worker all -- CMD  a command on each worker, no shell
  muster tpu notebook NAME                 Jupyter there, its link here
  muster tpu stop NAME                     also start
  muster tpu delete NAME
  muster tpu queued list                   also describe, delete
  muster tpu reap                          what was created here and not kept

What creates, costs or destroys says so and asks. Ctrl-C says what goes on in
the cloud and how to stop it. What is created is written down before
(~/.local/state/muster/tpu.jsonl), so that the same command finds it again and
`reap` removes exactly what is left over.

Workers are reached by the system's ssh with the keys that gcloud keeps
(~/.ssh/google_compute_engine, google_compute_known_hosts). A command lives as
long as this one; the exit code is the largest of all, 255 for a worker that
could not be asked.

Credentials: CLOUDSDK_AUTH_ACCESS_TOKEN, the file that
GOOGLE_APPLICATION_CREDENTIALS names, that of `gcloud auth application-default
login`, Colab's, the service account of this machine. No token is ever printed.
The exit code is 0 when all is well, 1 when it is refused, 2 for a wrong command
line or when nobody tells the project, 3 when no answer could be had, 75 when
there is no quota or capacity now, 130 when it was interrupted.
)";

constexpr std::string_view kClusterFlags =
    R"(
The cluster (muster resolve shows what is used):
  -n N                   N ranks, all on this host
  --hosts A:PORT,B:PORT  one member per address, ranked in this order
                         (A,B without ports: 8476)
  --cluster FILE         the JSON that `muster resolve --output json` prints
  --rank R               own rank, where the addresses of this host do not tell
  --source NAME          ask this source alone
  --profile NAME         the convention that holds where they differ: tf,
                         estimator, jax, torch, torch_xla, ray, deepspeed,
                         openmpi; with jax, run serves a program that calls
                         jax.distributed.initialize() without arguments
  --hostfile FILE        a host file of Open MPI or DeepSpeed
  --tpu NAME             a TPU by name or address; --project P, --zone Z; of a
                         name, check and run start on its workers by ssh
  --instance-group NAME  machines of Compute Engine; --project P, --zone Z
  --pods JOB:LABEL=V     pods of Kubernetes; may be repeated
)";

// "  --grace TIME   doc (default 10s, MUSTER_GRACE)", wrapped at 80 columns.
std::string SettingHelp(const settings::SettingRow& row) {
  constexpr std::size_t kColumn = 25;
  std::string head = "  " + std::string(row.flag) + " ";
  for (char c : row.type) {
    head += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  std::string line = head.size() + 2 > kColumn ? head + "\n" : head;
  const std::size_t used = line.back() == '\n' ? 0 : line.size();
  line.append(kColumn - used, ' ');
  std::string words(row.doc);
  words += " (default " + std::string(row.fallback) + ", " +
           std::string(row.variable) + ")";
  std::size_t column = kColumn;
  std::size_t at = 0;
  while (at < words.size()) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    const std::string word = words.substr(at, end - at);
    if (column + word.size() > 80) {
      while (line.back() == ' ') {
        line.pop_back();
      }
      line += "\n" + std::string(kColumn, ' ');
      column = kColumn;
    }
    line += word + " ";
    column += word.size() + 1;
    at = end + 1;
  }
  line.back() = '\n';
  return line;
}

std::string Flags(std::string_view verb, std::string_view own) {
  std::string text = "\nFlags:\n";
  text += own;
  for (const settings::SettingRow& row : settings::SettingRows()) {
    if (row.IsFor(verb)) {
      text += SettingHelp(row);
    }
  }
  return text + "  -h, --help             this text\n";
}

constexpr std::string_view kReachFlags =
    R"(  --worker K             of a TPU that is reached by ssh: all, or the number of
                         one (default: 0 of ssh and notebook, else all)
  --address WHICH        internal, external, or auto: internal where this host
                         is in the TPU's network (default auto); --internal-ip
                         is understood, too
  --user U               who logs in there (default: USER; with OS Login the
                         account's)
)";

constexpr std::string_view kCheckFlags =
    R"(  --checkpoints PATH     where checkpoints will be written; may be repeated. On
                         several hosts each leaves a file there for a moment, so
                         that it is known whether the others see it
  --data PATH            what will be read; may be repeated
  --target ADDRESS       who answers there: HOST:PORT, or SCHEME://HOST:PORT of
                         who is expected: grpc, tf, jax, tcpstore,
                         tpu-metrics, http, https, ssh, tcp; several with
                         commas; may be repeated
  --framework NAME       ask the members who they are, as servers of tf, jax or
                         torch; check program: refuse a file of another one
  --list                 all checks, one line each
  --open                 check accelerator, check tpu: open the devices of this
                         host; -y, --yes answers what it asks
  --on TOPOLOGY          what the program is for: v2, v3, v4, v5e, v5p, v6e or
                         tpu7x, and its shape in chips: v5e:2x4, v5p:2x2x1
  --params N             check fit: parameters, as in 1.3B
  --activations SIZE     check fit: what the backward pass keeps on a device:
                         4GB, or layers=24,hidden=2048,heads=16,sequence=1024,
                         batch=8,vocab=32000 (and ,remat) of a transformer
  --optimizer NAME       check fit: sgd, momentum, lion, rmsprop, adagrad, adam
                         or adamw (default adam)
  --dtype NAME           check fit: f32, bf16, f16, or mixed: f32 with a copy in
                         bf16 (default f32)
  --sharded              check fit: weights, gradients and states are divided
                         among the devices (default: each has all)
  --plugin PATH          the compiler to ask, or with --open the plug-in to
                         open, or tpu, cuda or cpu: the one that is found for
                         it (default: TPU_LIBRARY_PATH,
                         PJRT_NAMES_AND_LIBRARY_PATHS, libtpu of Python, the
                         system); may be repeated: what only one of them takes
  --batch N,N            sizes to put in where an artefact of jax.export has a
                         symbol for one; Python's jax does it
  --examples N           examples of a run of the program, over all devices, of
                         which it is said how many a second keep it busy
                         (default: as a step.json or --batch says)
  --replicas N           copies of the program (default: as it says), or chips
                         and GPUs that the targets, or --open, must have
  --partitions N         devices that share one copy (default: as it says)
  --signature NAME       the signature of a SavedModel, or the function, that
                         is the step (default: all signatures)
  --timeout TIME         how long the compiler, or opening, may take (default
                         120s)
)";

constexpr std::string_view kRunFlags =
    R"(  --env NAME=VALUE       set a variable for all ranks; may be repeated
  --dry-run              print the plan with the source of every value, start
                         nothing
  --copy DIR             with --tpu: what each worker gets, and where ranks
                         start (default: their home folder)
  --keep-copy            do not remove it at the end
  --recreate             with --tpu: when the TPU is preempted, delete it, make
                         the same anew and start again there, which costs; when
                         it is unhealthy or gone, ask before (-y, --yes answers)
)";

constexpr std::string_view kTpuFlags =
    R"(  --project P            whose TPUs (default: GOOGLE_CLOUD_PROJECT, the
                         credentials' file, gcloud's configuration, the metadata
                         server)
  --zone Z               where (default: CLOUDSDK_COMPUTE_ZONE, gcloud's
                         configuration, else all zones)
  --all-zones            everywhere
  -q, --quiet            names alone, one a line
  --type T               accelerator type (also --accelerator-type)
  --version V            runtime version (default: the usual one for the type)
  --any-zone Z1,Z2       create: in all of them at once; one is kept, all others
                         are deleted
  --on-demand, --spot, --reserved
                         create: how (default: on demand); several: the
                         first that comes
  --queued               create: in the queue of the zone
  --wait                 create: until it can be used
  --reach WHAT           create, wait: ssh (port 22), agent (8476), a port, none
                         (default ssh)
  --enable               doctor: enable the API, where it is off
  --dry-run              create, reap: show what would be done
  -y, --yes              do not ask
)";

constexpr std::string_view kTpuReachFlags =
    R"(  --command LINE         ssh: for a shell there, in place of CMD
  --port P               notebook: of the link (default 8888)
)";

}  // namespace

std::string HelpText(Verb verb) {
  switch (verb) {
    case Verb::kResolve:
      return std::string(kResolve) + std::string(kClusterFlags) +
             Flags("resolve", kResolveFlags);
    case Verb::kRun:
      return std::string(kRun) + std::string(kClusterFlags) +
             Flags("run", std::string(kRunFlags) + std::string(kReachFlags));
    case Verb::kCheck:
      return std::string(kCheck) + std::string(kClusterFlags) +
             Flags("check",
                   std::string(kCheckFlags) + std::string(kReachFlags));
    case Verb::kExplain:
      return std::string(kExplain) +
             Flags("explain",
                   "  --exit STATUS          how the program ended: 137, -9, "
                   "SIGBUS\n"
                   "  --note TEXT            what you saw, in your words; may "
                   "be given several times\n"
                   "  --rank-from PATTERN    RE2 with one group that is the "
                   "rank, tried on names of\n"
                   "                         files, and on the lines of files "
                   "whose name says\n"
                   "                         nothing\n"
                   "  --inspect-host         inspect this host as well: "
                   "kernel log, memory\n"
                   "                         counters, limits, disks, ports, "
                   "devices and who holds\n"
                   "                         them, the Slurm job, the pod; "
                   "changes nothing\n"
                   "  --list                 all causes, one line each\n");
    case Verb::kBundle:
      return std::string(kBundle) +
             Flags("bundle",
                   "  --archive FILE         what to write (default "
                   "muster-bundle.tar.gz)\n");
    case Verb::kTpu:
      return std::string(kTpu) +
             Flags("tpu", std::string(kTpuFlags) + std::string(kReachFlags) +
                              std::string(kTpuReachFlags));
    case Verb::kOverview:
      break;
  }
  return std::string(kOverview);
}

}  // namespace muster::cli
