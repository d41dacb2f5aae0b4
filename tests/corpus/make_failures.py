#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs real PyTorch, TensorFlow and JAX programs into faults, keeps their logs.

  make_failures.py OUT [NAME…]    with a Python that has torch, tensorflow, jax

Each log becomes OUT/NAME.json in the format of the failure corpus: what the
program printed, how it ended, and the cause that was made. Faults started as
"ranks" have one log for each rank and the rank that was the root. Traffic stays
on the loopback. The logs in tests/data/failures were made with it.
"""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

HEAD = """
import os, sys, datetime, torch
import torch.distributed as dist
short = datetime.timedelta(seconds=5)
def join(rank, world, port=PORT, host='127.0.0.1'):
    dist.init_process_group('gloo', init_method=f'tcp://{host}:{port}',
                            rank=rank, world_size=world, timeout=short)
"""
TWO = HEAD + """
rank = int(os.environ['RANK']); dist.init_process_group('gloo', timeout=short)
"""
TF = "import os, sys\nimport tensorflow as tf\n"
JAX = "import os, sys\nimport jax, jax.numpy as jnp\n"
# Two processes of one JAX job; the second comes late enough to be told apart.
JAX_TWO = JAX + """
rank = int(os.environ['RANK'])
jax.distributed.initialize('127.0.0.1:PORT', 2, rank, initialization_timeout=30)
"""
# Two workers of one TensorFlow job.
TF_TWO = TF + """
import json
rank = int(os.environ['RANK'])
os.environ['TF_CONFIG'] = json.dumps({
    'cluster': {'worker': ['127.0.0.1:PORT', '127.0.0.1:NEXT']},
    'task': {'type': 'worker', 'index': rank}})
strategy = tf.distribute.MultiWorkerMirroredStrategy()
"""

# name: (cause, launcher, program)
FAULTS = {
    "missing-worker": ("rendezvous-timeout", "python", HEAD + "join(0, 2)"),
    "no-launcher": ("launch-env-missing", "python",
                    HEAD + "dist.init_process_group('gloo')"),
    "no-local-rank": ("launch-env-missing", "python",
                      HEAD + "print(int(os.environ['LOCAL_RANK']))"),
    "port-taken": ("net-port-in-use", "python", HEAD + """
import socket
s = socket.socket(); s.bind(('0.0.0.0', PORT)); s.listen(); join(0, 1)"""),
    "unresolvable": ("net-name-resolution", "python",
                     HEAD + "join(1, 2, host='no-such-host.invalid')"),
    "group-twice": ("init-order", "python",
                    HEAD + "join(0, 1); join(0, 1, PORT + 1)"),
    "bad-argument": ("app-exception", "torchrun", """
import argparse
argparse.ArgumentParser().parse_args(['--local-rank=0'])"""),
    "own-exception": ("app-exception", "torchrun", TWO + """
if rank == 1:
    {}['learning_rate']
dist.barrier()"""),
    "shape-differs": ("collective-shape-mismatch", "torchrun", TWO + """
dist.all_reduce(torch.ones(4 if rank else 400000))"""),
    "call-differs": ("collective-desync", "torchrun", TWO + """
t = torch.ones(4)
dist.all_reduce(t) if rank else dist.broadcast(t, 0)"""),
    "unused-parameters": ("collective-desync", "torchrun", TWO + """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.a = torch.nn.Linear(2, 2); self.b = torch.nn.Linear(2, 2)
    def forward(self, x): return self.a(x)
net = torch.nn.parallel.DistributedDataParallel(Net())
for _ in range(3): net(torch.ones(2, 2)).sum().backward()"""),
    "lambda-in-loader": ("not-serializable", "python", """
import torch
from torch.utils.data import DataLoader
def main():
    for _ in DataLoader([1, 2], num_workers=1, collate_fn=lambda x: x,
                        multiprocessing_context='spawn'): pass
if __name__ == '__main__': main()"""),
    "not-a-number": ("numerics-nan", "python", """
import torch
torch.autograd.set_detect_anomaly(True)
x = torch.zeros(2, requires_grad=True)
(torch.sqrt(x - 1) * 0).sum().backward()"""),
    "cut-checkpoint": ("file-corrupt", "python", """
import torch
torch.save(torch.ones(1000), 'c.pt'); open('c.pt', 'r+b').truncate(2000)
torch.load('c.pt')"""),
    "other-model": ("ckpt-mismatch", "python", """
import torch
a, b = torch.nn.Linear(3, 4), torch.nn.Linear(5, 4)
b.load_state_dict(a.state_dict())"""),
    "disk-full": ("disk-full", "python", """
import torch
with open('/dev/full', 'wb') as f: f.write(b'x' * 100000)"""),
    "no-cuda-build": ("accel-plugin-missing", "python", """
import torch
torch.ones(2).cuda()"""),
    "half-on-cpu": ("op-unsupported", "python", """
import torch
torch.linalg.inv(torch.eye(2, dtype=torch.half))"""),
    "open-files": ("os-limit", "python", """
import resource, torch
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
keep = [open('/dev/null') for _ in range(64)]"""),
    "host-memory": ("oom-host", "python", """
import resource, torch
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
torch.ones(1 << 40)"""),
    "no-module": ("app-exception", "python",
                  "import torch\nimport flash_attention_of_mine"),
    "hang-up": ("session-ended", "torchrun", TWO + """
import signal, time
if rank == 0: os.kill(os.getppid(), signal.SIGHUP)
time.sleep(20)"""),
    "tf-config-broken": ("cluster-spec-invalid", "python", TF + """
os.environ['TF_CONFIG'] = '{"cluster": {"worker": ["localhost:1"]}, "task": {"type": "worker", "index": 3}}'
tf.distribute.MultiWorkerMirroredStrategy()"""),
    "tf-config-no-json": ("cluster-spec-invalid", "python", TF + """
os.environ['TF_CONFIG'] = "{'cluster': {}}"
tf.distribute.MultiWorkerMirroredStrategy()"""),
    "tf-late-strategy": ("init-order", "python", TF + """
tf.constant(1) + 1
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices('CPU')[0],
    [tf.config.LogicalDeviceConfiguration()] * 2)"""),
    "tf-no-tpu-name": ("tpu-mode-mismatch", "python",
                       TF + "tf.distribute.cluster_resolver.TPUClusterResolver()"),
    "tf-local-tpu": ("tpu-mode-mismatch", "python", TF + """
r = tf.distribute.cluster_resolver.TPUClusterResolver('local')
tf.tpu.experimental.initialize_tpu_system(r)"""),
    "tf-cut-record": ("file-corrupt", "python", TF + """
with tf.io.TFRecordWriter('r') as w: w.write(b'x' * 1000)
open('r', 'r+b').truncate(500)
for _ in tf.data.TFRecordDataset('r'): pass"""),
    "tf-nan": ("numerics-nan", "python", TF + """
tf.debugging.enable_check_numerics()
tf.math.log(tf.constant(-1.0))"""),
    "torch-healthy": ("none", "torchrun", TWO + """
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
best = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    loss = net(torch.ones(3, 4)).square().mean()
    best.zero_grad(); loss.backward(); best.step()
    if rank == 0: print('step', step, 'loss', loss.item())
dist.destroy_process_group()"""),
    "torch-healthy-undestroyed": ("none", "torchrun", TWO + """
t = torch.ones(2); dist.all_reduce(t); print(rank, t)"""),
    "tf-healthy": ("none", "python", TF + """
m = tf.keras.Sequential([tf.keras.layers.Dense(2)])
m.compile('sgd', 'mse')
m.fit(tf.ones((64, 4)), tf.ones((64, 2)), epochs=3, verbose=2)"""),
    "tf-healthy-mirrored": ("none", "python", TF + """
s = tf.distribute.MirroredStrategy()
with s.scope():
    v = tf.Variable(1.0)
print('replicas', s.num_replicas_in_sync)"""),
    # One log for each rank; the second is the root.
    "ranks-own-exception": ("app-exception", "ranks", TWO + """
dist.all_reduce(torch.ones(2))
if rank == 1:
    {}['learning_rate']
dist.all_reduce(torch.ones(2))"""),
    "ranks-host-memory": ("oom-host", "ranks", TWO + """
import resource
dist.all_reduce(torch.ones(2))
if rank == 1:
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    torch.ones(1 << 40)
dist.all_reduce(torch.ones(2))"""),
    "ranks-disk-full": ("disk-full", "ranks", TWO + """
if rank == 1:
    with open('/dev/full', 'wb') as f: f.write(b'x' * 100000)
dist.barrier()"""),
    "ranks-cut-checkpoint": ("file-corrupt", "ranks", TWO + """
if rank == 1:
    torch.save(torch.ones(1000), 'c.pt'); open('c.pt', 'r+b').truncate(2000)
    torch.load('c.pt')
dist.barrier()"""),
    "jax-missing-worker": ("rendezvous-timeout", "python", JAX + """
jax.distributed.initialize('127.0.0.1:PORT', 2, 0, initialization_timeout=5)"""),
    "jax-missing-coordinator": ("rendezvous-timeout", "python", JAX + """
jax.distributed.initialize('127.0.0.1:PORT', 2, 1, initialization_timeout=5)"""),
    "jax-late-initialize": ("init-order", "python", JAX + """
jax.devices()
jax.distributed.initialize('127.0.0.1:PORT', 1, 0)"""),
    "jax-twice": ("init-order", "python", JAX + """
jax.distributed.initialize('127.0.0.1:PORT', 1, 0)
jax.distributed.initialize('127.0.0.1:PORT', 1, 0)"""),
    "jax-no-address": ("launch-env-missing", "python",
                       JAX + "jax.distributed.initialize()"),
    "jax-port-taken": ("net-port-in-use", "python", JAX + """
import socket
s = socket.socket(); s.bind(('0.0.0.0', PORT)); s.listen()
jax.distributed.initialize('127.0.0.1:PORT', 1, 0, initialization_timeout=5)"""),
    "jax-no-plugin": ("accel-plugin-missing", "python", """
import os
os.environ['JAX_PLATFORMS'] = 'cuda'
import jax
jax.devices()"""),
    "jax-no-tpu": ("accel-plugin-missing", "python", """
import os
os.environ['JAX_PLATFORMS'] = 'tpu'
import jax
jax.devices()"""),
    "jax-traced-bool": ("op-unsupported", "python", JAX + """
jax.jit(lambda x: x if x > 0 else -x)(jnp.float32(1))"""),
    "jax-nan": ("numerics-nan", "python", JAX + """
jax.config.update('jax_debug_nans', True)
jnp.log(jnp.float32(-1.0))"""),
    "jax-uneven-shards": ("batch-not-divisible", "python", """
import os
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=4'
import jax, jax.numpy as jnp
mesh = jax.make_mesh((4,), ('x',))
s = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec('x'))
jax.device_put(jnp.ones((6,)), s)"""),
    "jax-large-mesh": ("rank-world-mismatch", "python", JAX + """
jax.make_mesh((8,), ('x',))"""),
    "jax-healthy": ("none", "python", JAX + """
step = jax.jit(jax.value_and_grad(lambda w, x: jnp.square(x @ w - 1).mean()))
w = jnp.zeros((4,))
for i in range(20):
    loss, g = step(w, jnp.ones((8, 4))); w = w - 0.1 * g
    print('step', i, 'loss', float(loss))"""),
    "jax-healthy-devices": ("none", "python", """
import os, logging
logging.basicConfig(level=logging.INFO)
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=4'
import jax, jax.numpy as jnp
print(jax.devices())
print(jax.pmap(lambda x: jax.lax.psum(x, 'i'), axis_name='i')(jnp.ones((4, 2))))
"""),
    "jax-healthy-fork": ("none", "python", JAX + """
jnp.ones(2).sum()
pid = os.fork()
if pid == 0: os._exit(0)
os.waitpid(pid, 0); print('done')"""),
    "jax-healthy-debug": ("none", "python", """
import os
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '0'
os.environ['JAX_LOG_COMPILES'] = '1'
import jax, jax.numpy as jnp
print(jax.jit(lambda x: jnp.sin(x) * 2)(jnp.ones(3)))"""),
    "jax-healthy-two": ("none", "ranks", JAX_TWO + """
from jax.experimental import multihost_utils
multihost_utils.sync_global_devices('begin')
print('rank', rank, 'of', jax.process_count())"""),
    "torch-healthy-loader": ("none", "python", """
import torch
from torch.utils.data import DataLoader
def main():
    for epoch in range(2):
        for batch in DataLoader(torch.arange(64.), batch_size=8, num_workers=9):
            pass
        print('epoch', epoch, 'batch', batch.shape)
if __name__ == '__main__': main()"""),
    "torch-healthy-amp": ("none", "python", """
import torch
net = torch.nn.Linear(4, 2); best = torch.optim.SGD(net.parameters(), lr=.1)
plan = torch.optim.lr_scheduler.StepLR(best, 1)
scaler = torch.cuda.amp.GradScaler()
plan.step()
with torch.cuda.amp.autocast():
    loss = net(torch.ones(2, 4)).sum()
scaler.scale(loss).backward(); scaler.step(best); scaler.update(); plan.step()
torch.save(net.state_dict(), 'c.pt'); net.load_state_dict(torch.load('c.pt'))
print('loss', loss.item())"""),
    "torch-healthy-caught": ("none", "python", """
import torch, warnings, logging
logging.basicConfig(level=logging.INFO)
try:
    torch.ones(2).cuda()
except Exception as e:
    logging.info('no accelerator here, going on with the CPU')
warnings.warn('num_workers is 0, the loader may be slow')
print('NCCL is', torch.distributed.is_nccl_available())
print('epoch 1 done, loss', torch.ones(2).mean().item())"""),
    "torch-healthy-unused": ("none", "torchrun", TWO + """
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2),
                                                find_unused_parameters=True)
net(torch.ones(3, 4)).sum().backward(); print('rank', rank, 'done')
dist.destroy_process_group()"""),
    "tf-healthy-retracing": ("none", "python", TF + """
@tf.function
def f(x): return x * 2
for i in range(8): f(i)
data = tf.data.Dataset.range(10).cache().batch(4)
next(iter(data)); print('done')"""),
    "tf-healthy-short-data": ("none", "python", TF + """
m = tf.keras.Sequential([tf.keras.layers.Dense(2)])
m.compile('sgd', 'mse')
d = tf.data.Dataset.from_tensors((tf.ones((4, 4)), tf.ones((4, 2))))
m.fit(d, epochs=2, steps_per_epoch=2, verbose=2)"""),
    "tf-healthy-two": ("none", "ranks", TF_TWO + """
with strategy.scope():
    v = tf.Variable(1.0)
print('replicas', strategy.num_replicas_in_sync, flush=True)
os._exit(0)"""),
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def own_environment():
    return {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}


def tidied(text, folder):
    text = text.replace(folder, "/job")
    text = re.sub(re.escape(sys.prefix), "/venv", text)
    return text[-64_000:]


def run_ranks(program):
    """Both ranks' exit statuses and logs, the second rank's status first."""
    port = free_port()
    texts = program.replace("PORT", str(port)).replace("NEXT", str(free_port()))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "train.py"
        path.write_text(texts)
        ranks = []
        for rank in range(2):
            environment = own_environment() | {
                "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2",
                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            log = open(pathlib.Path(folder) / f"rank{rank}.log", "w+")
            ranks.append((log, subprocess.Popen(
                [sys.executable, str(path)], cwd=folder, env=environment,
                stdout=log, stderr=subprocess.STDOUT)))
        logs = []
        for log, process in ranks:
            try:
                process.wait(timeout=240)
            finally:
                process.kill()
            log.seek(0)
            logs.append(tidied(log.read(), folder))
            log.close()
        return ranks[1][1].returncode, logs


def run(launcher, program):
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "train.py"
        path.write_text(program.replace("PORT", str(port)))
        command = [sys.executable, str(path)]
        if launcher == "torchrun":
            command = [sys.executable, "-m", "torch.distributed.run",
                       "--nproc-per-node=2", "--master-addr=127.0.0.1",
                       f"--master-port={port}", str(path)]
        done = subprocess.run(command, cwd=folder, env=own_environment(),
                              text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=240)
    return done.returncode, tidied(done.stdout, folder)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or FAULTS:
        cause, launcher, program = FAULTS[name]
        try:
            code, text = (run_ranks(program) if launcher == "ranks"
                          else run(launcher, program))
        except subprocess.TimeoutExpired:
            print(f"{name}: no end in time", file=sys.stderr)
            continue
        if (code == 0) != (cause == "none"):
            print(f"{name}: exit status {code}, expected {cause}",
                  file=sys.stderr)
            continue
        case = {"id": name, "exit": str(code) if code else None, "cause": cause,
                "settled": True}
        if launcher == "ranks":
            case |= {"ranks": text, "root": -1 if cause == "none" else 1}
            text = "".join(text)
        else:
            case["signal"] = text
        (out / f"{name}.json").write_text(json.dumps(case, indent=1) + "\n")
        print(f"{name}: {len(text)} bytes, exit status {code}", flush=True)


if __name__ == "__main__":
    main()
