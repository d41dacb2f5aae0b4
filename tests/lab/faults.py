# SPDX-License-Identifier: Apache-2.0
"""The table: fault, the cause that has to be said, who has to be named."""
import pathlib
import subprocess

from scene import PORT, SPEED, Fault

HERE = pathlib.Path(__file__).parent


def on(rank, hook, rule):
    return lambda scene: scene.hosts[rank].filter(hook, rule)


def absent(rank):
    return lambda scene: scene.absent.add(rank)


def stranger(rank, kind, started=False):
    def does(scene):
        scene.stranger(rank, kind)
        if not started:
            scene.absent.add(rank)
    return does


def down(rank):
    def does(scene):
        scene.absent.add(rank)
        scene.hosts[rank].ip("link", "set", "eth0", "down")
    return does


def shut(rank):
    def does(scene):
        scene.absent.add(rank)
        scene.hosts[rank].filter("input", "drop")
    return does


def between(scene, sources, targets):
    """No packet that begins a connection comes from sources to targets."""
    froms = ", ".join(scene.hosts[rank].address for rank in sources)
    for rank in targets:
        scene.hosts[rank].filter(
            "input", f"ip saddr {{ {froms} }} tcp dport {PORT} drop")


def link(scene):
    between(scene, [0], [1])
    between(scene, [1], [0])


def halves(scene):
    between(scene, [0, 1], [2, 3])
    between(scene, [2, 3], [0, 1])


def one_way(scene):
    between(scene, [0, 1], [2, 3])


def route(kind, source=1, target=2):
    return lambda scene: scene.hosts[source].ip(
        "route", "add", kind, scene.hosts[target].address)


def no_route(scene):
    scene.hosts[1].ip("route", "del", "10.77.0.0/24")
    scene.hosts[1].ip("route", "add", scene.hosts[0].address, "dev", "eth0")


def small_mtu(rank):
    def does(scene):
        bridge = scene.lab.spaces[0]
        subprocess.run(["ip", "-n", bridge, "link", "set", f"v{rank}", "mtu",
                        "1000"], check=True)
        # Else segments pass the bridge together, larger than any MTU.
        for host in scene.hosts:
            host.ip("link", "set", "eth0", "gso_max_segs", "1",
                    "gso_max_size", "1500")
    return does


def large_lost(rank, source=None):
    def does(scene):
        where = "" if source is None else \
            f"ip saddr {scene.hosts[source].address} "
        scene.hosts[rank].filter(
            "input", f"{where}tcp dport {PORT} meta length > 1000 drop")
    return does


def swapped_ranks(scene):
    scene.ranks = {0: 1, 1: 0}


def aliases(scene):
    """Members by names that are not those of the hosts, as of a service."""
    scene.members = [f"m{host.rank}:{PORT}" for host in scene.hosts]
    for host in scene.hosts:
        host.known.update({f"m{one.rank}": one.address
                           for one in scene.hosts})


def swapped_aliases(scene):
    aliases(scene)
    swapped_ranks(scene)


def same_alias(scene):
    aliases(scene)
    scene.ranks = {2: 1}


def same_rank(scene):
    scene.ranks = {2: 1}


def other_order(scene):
    one, two, three = scene.members
    scene.lists[1] = [two, one, three]
    scene.ranks[1] = 0


def other_size(scene):
    scene.lists[2] = scene.members + ["10.77.0.99:8476"]


def nobody_there(scene):
    scene.members[1] = f"10.77.0.77:{PORT}"
    scene.absent.add(1)


def unknown_on_one(scene):
    scene.names()
    del scene.hosts[1].known["w-2"]


def unknown_everywhere(scene):
    scene.names()
    scene.members[2] = f"w-nowhere:{PORT}"
    scene.absent.add(2)


def dead_name_server(scene):
    scene.names()
    for name in ("w-0", "w-2"):
        del scene.hosts[1].known[name]
    scene.hosts[1].resolv = ["nameserver 10.77.0.200"]


def wrong_name(on_rank, of, leads_to):
    def does(scene):
        scene.names()
        scene.hosts[on_rank].known[f"w-{of}"] = scene.hosts[leads_to].address
    return does


def swapped_names(*ranks):
    """Names of hosts 1 and 2 lead to each other, on some hosts."""
    def does(scene):
        scene.names()
        for rank in ranks:
            known = scene.hosts[rank].known
            known["w-1"], known["w-2"] = known["w-2"], known["w-1"]
    return does


def same_address(rank, thief=2, sender=0):
    """The thief has the address of a host, too, and is faster to say so. To
    that host nobody's packets come, so it cannot know why."""
    def does(scene):
        scene.names()
        one, two = scene.hosts[rank], scene.hosts[thief]
        two.ip("addr", "add", f"{one.address}/24", "dev", "eth0")
        scene.hosts[sender].ip("neigh", "replace", one.address, "lladdr",
                               two.hardware(), "dev", "eth0", "nud",
                               "permanent")
        scene.deaf.add(rank)
    return does


def cgroup(controller, file, value):
    """A limit on host 1, by the version of cgroups that is here."""
    def does(scene):
        scene.hosts[1].limit(controller, file, value)
    return does


def packages(*versions):
    """Hosts with a Python environment each: jax in these versions."""
    def does(scene):
        for host, version in zip(scene.hosts, versions):
            info = host.folder / "venv/lib/python3.11/site-packages"
            (info / f"jax-{version}.dist-info").mkdir(parents=True)
            scene.environment[host.rank]["VIRTUAL_ENV"] = host.folder / "venv"
    return does


def shared(scene):
    """A program, data and a folder of checkpoints that all hosts share."""
    common = pathlib.Path(scene.lab.folder, "common")
    for name in ("d", "ck"):
        (common / name).mkdir(parents=True)
    (common / "train.py").write_text("pass\n")
    (common / "d/part-0").write_text("1 2 3\n")
    for flags in scene.flags.values():
        flags += ["--data", f"{common}/d", "--checkpoints", f"{common}/ck",
                  "--", "python3", f"{common}/train.py"]
    return common


def own(name, line="true"):
    """Of what is shared, host 1 has one of its own."""
    def does(scene):
        common = shared(scene)
        scene.hosts[1].prepare += [
            f"mount -t tmpfs lab {common}/{name}" if name == "ck" else
            f"cp -r {common}/{name} {scene.hosts[1].folder}/x; "
            f"mount --bind {scene.hosts[1].folder}/x {common}/{name}",
            line.format(common=common)]
    return does


def loopback_name(scene):
    scene.names()
    scene.hosts[1].known["w-1"] = "127.0.1.1"


def token(scene, rank, text):
    path = scene.hosts[rank].folder / "token"
    path.write_text(text)
    path.chmod(0o600)
    scene.flags[rank] = ["--token-file", str(path)]


def tokens(scene):
    for host in scene.hosts:
        token(scene, host.rank, "correct horse battery staple")


def other_token(scene):
    tokens(scene)
    token(scene, 1, "another secret of sixteen bytes")


def no_token(scene):
    tokens(scene)
    scene.flags[1] = []


def open_token(scene):
    tokens(scene)
    (scene.hosts[1].folder / "token").chmod(0o644)


def clock(rank, seconds):
    def does(scene):
        library = pathlib.Path(scene.lab.folder, "clock.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library),
                        str(HERE / "clock.c")], check=True,
                       capture_output=True)
        scene.environment[rank].update(
            LD_PRELOAD=str(library), LAB_CLOCK_AHEAD=str(seconds))
    return does


def translated(scene):
    scene.hosts[1].ip("addr", "add", "10.77.0.150/24", "dev", "eth0")
    scene.hosts[1].nft(
        "add table ip nat\n"
        "add chain ip nat post { type nat hook postrouting priority 100; }\n"
        f"add rule ip nat post tcp dport {PORT} snat to 10.77.0.150\n")


def healed(scene):
    scene.hosts[2].filter("input", f"tcp dport {PORT} drop")

    def heal(again, _running):
        again.hosts[2].nft("delete table inet lab\n")
    scene.later.append((1.0, heal))


def late(rank, seconds):
    return lambda scene: scene.delays.update({rank: seconds})


def slow(scene):
    for host in scene.hosts:
        host.tc("qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "20mbit",
                "burst", "16kb", "latency", "200ms")


def nothing(_scene):
    pass


def six(scene):
    for host in scene.hosts:
        host.need_ipv6()
        host.ip("-6", "addr", "add", f"fd77::{host.rank + 1}/64", "dev", "eth0",
                "nodad")
    scene.members = [f"[fd77::{host.rank + 1}]:{PORT}" for host in scene.hosts]


def prepare(line, *flags):
    """A line of shell on host 1, in its own mounts and limits."""
    def does(scene):
        scene.hosts[1].prepare.append(
            line.format(folder=scene.hosts[1].folder))
        scene.flags[1] += [flag.format(folder=scene.hosts[1].folder)
                           for flag in flags]
    return does


def variables(**values):
    return lambda scene: scene.environment[1].update(values)


def shaped(rate, links=(), between="20mbit", limit=1000):
    """Every host sends at a rate, to some others (from, to) at another one."""
    def does(scene):
        for host in scene.hosts:
            host.tc("qdisc", "add", "dev", "eth0", "root", "handle", "1:", "htb",
                    "default", "10")
            host.tc("class", "add", "dev", "eth0", "parent", "1:", "classid",
                    "1:10", "htb", "rate", rate)
        for number, (source, target) in enumerate(links):
            host, classid = scene.hosts[source], f"1:2{number}"
            host.tc("class", "add", "dev", "eth0", "parent", "1:", "classid",
                    classid, "htb", "rate", between)
            host.tc("qdisc", "add", "dev", "eth0", "parent", classid, "pfifo",
                    "limit", str(limit))
            host.tc("filter", "add", "dev", "eth0", "parent", "1:", "protocol",
                    "ip", "u32", "match", "ip", "dst",
                    scene.hosts[target].address, "flowid", classid)
    return does


def saturated(scene):
    """What others send from 2 to 5 fills that link."""
    shaped(RATE, [(2, 5)], between=RATE, limit=2000)(scene)
    scene.helper(2, "flood.py", scene.hosts[5].address)


def slow_host(scene):
    shaped(RATE)(scene)
    scene.hosts[3].tc("class", "change", "dev", "eth0", "parent", "1:",
                      "classid", "1:10", "htb", "rate", "20mbit")


def few_cores(scene):
    """Host 3 has three hundredths of a core."""
    scene.hosts[3].limit("cpu", {1: "cpu.cfs_quota_us", 2: "cpu.max"}, 3000)


def lossy(scene):
    shaped(RATE)(scene)
    for one, other in ((2, 5), (5, 2)):
        scene.hosts[one].filter(
            "input", f"ip saddr {scene.hosts[other].address} "
            "numgen random mod 100 < 15 drop")


def delayed(scene):
    shaped(RATE)(scene)
    scene.helper(2, "delay.py", scene.hosts[2].address, scene.hosts[5].address,
                 "20")


FILTERED = "net-timeout-filtered"
ENDPOINT = "net-wrong-endpoint"

NETWORK = [
    Fault("agent port of a host dropped", FILTERED, (1,),
          on(1, "input", f"tcp dport {PORT} drop")),
    Fault("port of the coordinator dropped", FILTERED, (0,),
          on(0, "input", f"tcp dport {PORT} drop")),
    Fault("port refused by a filter, reset", FILTERED, (1,),
          on(1, "input", f"tcp dport {PORT} reject with tcp reset")),
    Fault("port refused by a filter, ICMP port", FILTERED, (1,),
          on(1, "input", f"tcp dport {PORT} reject")),
    Fault("port refused by a filter, ICMP host", FILTERED, (1,),
          on(1, "input",
             f"tcp dport {PORT} reject with icmp type host-unreachable")),
    Fault("all new connections to a host dropped", FILTERED, (2,),
          on(2, "input", "ct state new drop")),
    Fault("all new connections of a host dropped", FILTERED, (2,),
          on(2, "output", "ct state new drop")),
    Fault("a host refuses to send", FILTERED, (2,),
          on(2, "output", f"tcp dport {PORT} reject with tcp reset"),
          others=("rendezvous-timeout",)),
    Fault("host down", FILTERED, (1,), down(1),
          says="does not respond to ARP"),
    Fault("host up, nothing gets in", FILTERED, (1,), shut(1),
          says="it responds to ARP"),
    Fault("coordinator down", FILTERED, (0,), down(0)),
    Fault("muster not started on a host", "rendezvous-timeout", (1,),
          absent(1)),
    Fault("one direction of one link", FILTERED, (0, 1),
          lambda scene: between(scene, [0], [1])),
    Fault("one link, both ways", FILTERED, (0, 1), link),
    Fault("two halves, both ways", FILTERED, (0, 1, 2, 3), halves, size=4),
    Fault("two halves, one way", FILTERED, (0, 1, 2, 3), one_way, size=4),
    Fault("blackhole route", FILTERED, (1, 2), route("blackhole")),
    Fault("unreachable route", FILTERED, (1, 2), route("unreachable")),
    Fault("prohibited route", FILTERED, (1, 2), route("prohibit")),
    Fault("no route to a part of the members", FILTERED, (1, 2), no_route),
    Fault("smaller MTU on the way to a host", "net-mtu", (1,), small_mtu(1)),
    Fault("large packets to a host lost", "net-mtu", (1,), large_lost(1)),
    Fault("large packets lost on one way", "net-mtu", (0, 1),
          large_lost(1, source=0)),
    Fault("HTTP server in place of a member", ENDPOINT, (1,),
          stranger(1, "http")),
    Fault("ssh server in place of a member", ENDPOINT, (1,),
          stranger(1, "ssh")),
    Fault("TLS server in place of a member", ENDPOINT, (1,),
          stranger(1, "tls")),
    Fault("gRPC server in place of a member", ENDPOINT, (1,),
          stranger(1, "grpc")),
    Fault("takes connections, stays silent", ENDPOINT, (1,),
          stranger(1, "silent")),
    Fault("takes connections, a byte now and then", ENDPOINT, (1,),
          stranger(1, "drip")),
    Fault("takes connections and closes them", ENDPOINT, (1,),
          stranger(1, "close")),
    Fault("takes connections and resets them", ENDPOINT, (1,),
          stranger(1, "reset")),
    Fault("proxy that answers 403", "net-proxy", (1,), stranger(1, "proxy")),
    Fault("another program holds the port", "net-port-in-use", (1,),
          stranger(1, "http", started=True)),
    Fault("a silent program holds the port", "net-port-in-use", (1,),
          stranger(1, "silent", started=True)),
    Fault("ranks swapped", ENDPOINT, (0, 1), swapped_ranks, by_named=True),
    Fault("ranks swapped, members by service names", ENDPOINT, (0, 1),
          swapped_aliases),
    Fault("a rank that is another host's", ENDPOINT, (2,), same_rank,
          by_named=True, others=("rendezvous-timeout",)),
    Fault("two hosts with one rank, service names", "duplicate-identity", (1,),
          same_alias),
    Fault("list in another order on a host", "rank-world-mismatch", (1,),
          other_order),
    Fault("a member more in the list of a host", "rank-world-mismatch", (2,),
          other_size, others=(FILTERED,)),
    Fault("an address where nobody lives", FILTERED, (1,), nobody_there),
    Fault("a name unknown on one host", "net-name-resolution", (1, 2),
          unknown_on_one),
    Fault("a name unknown everywhere", "net-name-resolution", (2,),
          unknown_everywhere),
    Fault("name server dead on one host", "net-name-resolution", (1,),
          dead_name_server, limit=6),
    Fault("a name leads to another member", ENDPOINT, (1, 2),
          wrong_name(0, 1, 2)),
    Fault("names of two hosts swapped on one host", ENDPOINT, (1, 2),
          swapped_names(0)),
    Fault("names of two hosts swapped on the others", ENDPOINT, (1, 2),
          swapped_names(0, 3), size=4),
    Fault("two hosts with one address", ENDPOINT, (1, 2),
          same_address(1)),
    Fault("the own name is 127.0.1.1", "net-loopback-name", (1,),
          loopback_name, group="network.own-name"),
    Fault("another token file", ENDPOINT, (1,), other_token),
    Fault("no token file on a host", ENDPOINT, (1,), no_token),
    Fault("clock ten minutes ahead", "clock-skew", (1,), clock(1, 600)),
    Fault("clock an hour behind", "clock-skew", (2,), clock(2, -3600)),
    Fault("clock five seconds ahead", "clock-skew", (1,), clock(1, 5),
          severity="warning"),
    Fault("another version of jax on a host", "ver-peer-mismatch", (1,),
          packages("0.5.1", "0.4.30", "0.5.1")),
    Fault("another patch of jax on a host", "ver-peer-mismatch", (2,),
          packages("0.5.1", "0.5.1", "0.5.3"), severity="warning"),
    Fault("another program on a host", "ver-peer-mismatch", (1,),
          own("train.py", "echo '# 2' >>{common}/train.py")),
    Fault("other data on a host", "uneven-data", (1,),
          own("d", "echo 4 >>{common}/d/part-0"), severity="warning"),
    Fault("checkpoints of a host are not those of the others",
          "ckpt-placement", (1,), own("ck")),
    Fault("addresses translated", "net-proxy", (1,), translated,
          severity="warning"),
    # A note on paths, which names both ends of each.
    Fault("a filter that goes after 1 s", FILTERED, (2,), healed,
          severity="note", also=(0, 1)),
]

# Low, so that the cores of this machine are not what is measured.
RATE = "200mbit"
SLOW = "net-slow-link"


def _speed(name, named, does):
    return Fault(name, SLOW, named, does, size=8, group=SPEED,
                 severity="warning", limit=20)


SPEEDS = [
    _speed("one link of eight hosts slow", (2, 5),
           shaped(RATE, [(2, 5), (5, 2)])),
    _speed("one direction of a link slow", (2, 5), shaped(RATE, [(5, 2)])),
    _speed("one link of eight hosts saturated by others", (2, 5), saturated),
    _speed("a host of eight sends slowly", (3,), slow_host),
    _speed("packets lost on one link of eight hosts", (2, 5), lossy),
    _speed("packets late on one link of eight hosts", (2, 5), delayed),
]

HOST = [
    Fault("/dev/shm is full", "shm-too-small", (1,),
          prepare("mount -t tmpfs -o size=8m lab /dev/shm"), group="host"),
    Fault("/dev/shm is small", "shm-too-small", (1,),
          prepare("mount -t tmpfs -o size=64m lab /dev/shm"), group="host",
          severity="warning"),
    Fault("few open files", "os-limit", (1,), prepare("ulimit -n 48"),
          group="host"),
    Fault("few processes in the cgroup", "os-limit", (1,),
          cgroup("pids", {1: "pids.max", 2: "pids.max"}, 40), group="host"),
    Fault("little memory in the cgroup", "oom-host", (1,),
          cgroup("memory", {1: "memory.limit_in_bytes", 2: "memory.max"},
                 200 << 20), group="host"),
    Fault("checkpoints on a full disk", "disk-full", (1,),
          prepare("mkdir {folder}/c; mount -t tmpfs -o size=64k lab {folder}/c;"
                  " head -c 64k /dev/zero >{folder}/c/x || true",
                  "--checkpoints", "{folder}/c"), group="storage"),
    Fault("checkpoints where no inode is left", "disk-full", (1,),
          prepare("mkdir {folder}/c; mount -t tmpfs -o nr_inodes=1 lab "
                  "{folder}/c", "--checkpoints", "{folder}/c"),
          group="storage"),
    Fault("checkpoints on a read-only disk", "file-permission", (1,),
          prepare("mkdir {folder}/c; mount -t tmpfs -o ro lab {folder}/c",
                  "--checkpoints", "{folder}/c"), group="storage"),
    Fault("data folder with nothing in it", "data-path-unreachable", (1,),
          prepare("mkdir {folder}/d", "--data", "{folder}/d"),
          group="storage", severity="warning"),
    Fault("data that are not there", "data-path-unreachable", (1,),
          prepare("true", "--data", "{folder}/none"), group="storage"),
    Fault("an interface that is not here", "net-wrong-interface", (1,),
          variables(GLOO_SOCKET_IFNAME="ib7"), group="network.route"),
    Fault("a proxy in the environment", "net-proxy", (1,),
          variables(http_proxy="http://10.77.0.9:3128",
                    TPU_NAME="t", XRT_TPU_CONFIG="x"),
          group="network.proxy", severity="warning"),
]

# Nothing is slow: what must not be flagged.
FAST = [
    Fault("healthy, speed of eight hosts", "", (), shaped(RATE), size=8,
          group=SPEED, limit=20),
    Fault("healthy, speed of three hosts unlimited", "", (), nothing,
          group=SPEED, limit=20),
    Fault("healthy, speed of two hosts", "", (), shaped(RATE), size=2,
          group=SPEED, limit=20),
    Fault("healthy, speed of five hosts, one has little of a core", "", (),
          few_cores, size=5, group=SPEED, limit=20),
]

# Nothing is wrong: what must not be flagged.
HEALTHY = [
    Fault("healthy, two hosts", "", (), nothing, size=2),
    Fault("healthy, three hosts", "", (), nothing),
    Fault("healthy, six hosts", "", (), nothing, size=6),
    Fault("healthy, names", "", (), lambda scene: scene.names()),
    Fault("healthy, token file", "", (), tokens),
    Fault("healthy, IPv6", "", (), six),
    Fault("healthy, one starts 1 s later", "", (), late(1, 1.0)),
    Fault("healthy, slow links", "", (), slow),
    Fault("healthy, jax on all hosts", "", (),
          packages("0.5.1", "0.5.1", "0.5.1")),
    Fault("healthy, program, data and checkpoints shared", "", (), shared),
]
