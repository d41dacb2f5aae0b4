#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs real PyTorch and TensorFlow programs into faults and keeps their logs.

  make_failures.py OUT [NAME…]    with a Python that has torch and tensorflow

Each log becomes OUT/NAME.json in the format of the failure corpus: what the
program printed, how it ended, and the cause that was made. Traffic stays on
the loopback. The logs in tests/data/failures were made with it.
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
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


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
        environment = {k: v for k, v in os.environ.items()
                       if "proxy" not in k.lower()}
        done = subprocess.run(command, cwd=folder, env=environment, text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=240)
    text = done.stdout.replace(folder, "/work")
    text = re.sub(re.escape(sys.prefix), "/venv", text)
    return done.returncode, text[-64_000:]


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or FAULTS:
        cause, launcher, program = FAULTS[name]
        try:
            code, text = run(launcher, program)
        except subprocess.TimeoutExpired:
            print(f"{name}: no end in time", file=sys.stderr)
            continue
        if (code == 0) != (cause == "none"):
            print(f"{name}: exit status {code}, expected {cause}",
                  file=sys.stderr)
            continue
        case = {"id": name, "signal": text, "exit": str(code) if code else None,
                "cause": cause, "settled": True}
        (out / f"{name}.json").write_text(json.dumps(case, indent=1) + "\n")
        print(f"{name}: {len(text)} bytes, exit status {code}", flush=True)


if __name__ == "__main__":
    main()
