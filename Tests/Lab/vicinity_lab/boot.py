"""Boots Debian's kernel in QEMU: over the host's root file system, or over that of a workstation of its own. Either is
read-only, under a layer and a tmpfs."""

import gzip
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .layer import compile_driver, write_layer

REPOSITORY = Path(__file__).resolve().parents[3]
CACHE = REPOSITORY / ".build/lab"
# What the guest needs before it has a root file system; everything else is loaded from there.
BOOT_MODULES = ["virtio_pci", "virtio_console", "virtio-rng", "9pnet_virtio", "9p", "overlay"]

INIT = """#!/bin/sh
fail() {{ echo "lab: cannot boot: $1"; poweroff -f; }}
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs dev /dev || fail "/proc, /sys, /dev"
for module in {modules}; do insmod /modules/$module || fail "module $module"; done
for share in {shares}; do
    mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose $share /$share || fail "9p $share"
done
mount -t tmpfs tmpfs /top && mkdir /top/upper /top/work || fail "tmpfs"
mount -t overlay -o lowerdir={lower},upperdir=/top/upper,workdir=/top/work overlay /root || fail "overlay"
mount --move /proc /root/proc && mount --move /sys /root/sys && mount --move /dev /root/dev || fail "moving mounts"
cd /root
mkdir -p dev/pts dev/shm lib/modules
mount -t devpts devpts dev/pts
for directory in dev/shm run tmp; do mount -t tmpfs -o mode=0755 tmpfs $directory; done
chmod 1777 tmp dev/shm
mount --bind /cache/kernel/lib/modules lib/modules || fail "modules"
mkdir -p run/lab/lab run/lab/bin && cp /job.json run/lab/ && cp /bin/busybox run/lab/
# Where the repository and the program stand on the host may be hidden here, or out of an unprivileged user's reach.
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose lab run/lab/lab || fail "9p lab"
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose bin run/lab/bin || fail "9p bin"
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONPATH=/run/lab/lab PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
{start}
"""
# The driver is init.
DRIVER = "exec switch_root /root /bin/sh -c '{command}; sync; /run/lab/busybox poweroff -f'"
SYSTEMD = "exec switch_root /root /sbin/init"


class BootError(Exception):
    """The lab cannot boot, or the guest ended before its work was done."""


def modules(kernel: Path) -> list[Path]:
    """The files of BOOT_MODULES and of all they depend on, in the order in which they must be loaded."""
    by_name, needs = {}, {}
    for line in (kernel / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        by_name[Path(path).name.removesuffix(".ko")] = path
        needs[path] = rest.split()
    built_in = {Path(line).name.removesuffix(".ko") for line in (kernel / "modules.builtin").read_text().split()}
    order: list[str] = []
    for name in BOOT_MODULES:
        if name.replace("-", "_") in built_in:
            continue
        # modules.dep lists what to load last first.
        for path in [*reversed(needs[by_name[name]]), by_name[name]]:
            if path not in order:
                order.append(path)
    return [kernel / path for path in order]


def cpio(entries: list[tuple[str, int, bytes, int, int]]) -> bytes:
    """A newc archive: (name, mode, contents, device major, device minor)."""
    archive = bytearray()
    for inode, (name, mode, contents, major, minor) in enumerate([*entries, ("TRAILER!!!", 0, b"", 0, 0)], 1):
        encoded = name.encode() + b"\0"
        fields = [inode, mode, 0, 0, 1, 0, len(contents), 0, 0, major, minor, len(encoded), 0]
        archive += b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        archive += bytes(-len(archive) % 4) + contents
        archive += bytes(-len(archive) % 4)
    return bytes(archive)


def initramfs(job: dict, shares: list[str], lower: str, start: str, destination: Path) -> None:
    kernels = list((CACHE / "kernel/lib/modules").glob("*")) if CACHE.is_dir() else []
    if not kernels:
        raise BootError(f"no kernel in {CACHE}: run Tests/Lab/install-dependencies first")
    files = modules(kernels[0])
    busybox = (CACHE / "layer/bin/busybox").read_bytes()
    script = INIT.format(modules=" ".join(file.name for file in files), shares=" ".join(shares), lower=lower, start=start)
    entries = [(name, 0o40755, b"", 0, 0) for name in
               ("bin", "dev", "proc", "sys", *shares, "top", "root", "modules")]
    entries += [("dev/console", 0o20600, b"", 5, 1), ("bin/busybox", 0o100755, busybox, 0, 0),
                ("init", 0o100755, script.encode(), 0, 0), ("job.json", 0o100644, json.dumps(job).encode(), 0, 0)]
    entries += [(f"bin/{applet}", 0o120777, b"busybox", 0, 0) for applet in
                ("sh", "mount", "insmod", "mkdir", "chmod", "cp", "poweroff", "switch_root")]
    entries += [(f"modules/{file.name}", 0o100644, file.read_bytes(), 0, 0) for file in files]
    destination.write_bytes(gzip.compress(cpio(entries), 1))


class Guest:
    """One boot. `messages` yields what the guest sends, as values; `shell` gives it the terminal instead."""

    memory = 1536  # MiB
    command_line = "console=ttyS0 loglevel=4 panic=-1"
    lower = "/cache/layer:/host"
    boot_limit = 60  # seconds

    def __init__(self, job: dict, limit: float, binaries: Path | None = None):
        self.limit = limit
        self.job = job | {"binaries": binaries is not None}
        self.directory = Path(tempfile.mkdtemp(prefix="vicinity-lab-"))
        self.out = self.directory / "out"
        self.serial = self.directory / "serial.log"
        self.out.mkdir()
        self.process: subprocess.Popen | None = None
        # The directory of the program, or an empty one.
        self.binaries = binaries.resolve() if binaries else self.directory / "none"
        (self.directory / "none").mkdir()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def roots(self) -> dict[str, Path]:
        """The shares that the initramfs mounts, `lower` being made of them."""
        return {"host": Path("/"), "cache": CACHE}

    def start(self, command: str) -> str:
        """The last lines of the initramfs' script."""
        return DRIVER.format(command=command)

    def arguments(self, command: str) -> list[str]:
        if not shutil.which("qemu-system-x86_64"):
            raise BootError("no qemu-system-x86_64: run Tests/Lab/install-dependencies first")
        image = self.directory / "initramfs.gz"
        initramfs(self.job, list(self.roots()), self.lower, self.start(command), image)
        accelerator = os.environ.get("LAB_ACCEL", "tcg,thread=multi")
        cpu = "host" if accelerator.startswith("kvm") else "max"
        shares = []
        for tag, path in (self.roots() | {"lab": REPOSITORY / "Tests/Lab", "bin": self.binaries}).items():
            shares += ["-virtfs", f"local,path={path},mount_tag={tag},security_model=none,readonly=on,multidevs=remap"]
        # Two network cards on one cable that leads nowhere else, for scenarios that ask for it. The guest has no driver
        # for them until one does.
        cards = []
        for card in (0, 1) if self.job.get("wired") else ():
            cards += ["-netdev", f"hubport,id=cable{card},hubid=0",
                      "-device", f"virtio-net-pci,netdev=cable{card},romfile=,mac=02:00:00:00:00:e{card}"]
        return ["qemu-system-x86_64", "-accel", accelerator, "-cpu", cpu, "-smp", "2", "-m", str(self.memory),
                "-nodefaults", "-no-user-config", *(cards or ["-nic", "none"]), "-display", "none", "-no-reboot",
                "-kernel", str(next((CACHE / "kernel/boot").glob("vmlinuz-*"))), "-initrd", str(image),
                "-append", self.command_line,
                *shares,
                "-virtfs", f"local,path={self.out},mount_tag=out,security_model=none",
                "-device", "virtio-rng-pci", "-device", "virtio-serial-pci"]

    def messages(self):
        """Each line that the guest writes to its port; raises BootError when it ends without saying so."""
        # Standard input stays open: at its end QEMU would take the port for closed and the guest would block.
        command = self.arguments("/usr/bin/python3 -m vicinity_lab.guest")
        command += ["-serial", f"file:{self.serial}", "-chardev", "stdio,id=results,signal=off",
                    "-device", "virtserialport,chardev=results,name=lab.results"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        limit = self.boot_limit
        deadline = time.monotonic() + limit
        pending, chatter = b"", []
        descriptor = self.process.stdout.fileno()
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([descriptor], [], [], remaining)[0]:
                raise BootError(f"the guest was not done after {limit:.0f} s\n{self.log()}")
            read = os.read(descriptor, 65536)
            if not read:
                break
            *lines, pending = (pending + read).split(b"\n")
            for line in lines:
                try:
                    message = json.loads(line)
                except ValueError:
                    chatter.append(line.decode(errors="replace"))  # QEMU's own complaints
                    continue
                yield message
                if message.get("kind") == "booted":
                    limit = self.limit
                    deadline = time.monotonic() + limit
                if message.get("kind") == "end":
                    return
        raise BootError("\n".join(["the guest ended before its work was done", *chatter, self.log()]))

    def shell(self) -> int:
        command = self.arguments(
            "/usr/bin/python3 -m vicinity_lab.guest; setsid -c /bin/bash </dev/ttyS0 >/dev/ttyS0 2>&1")
        command += ["-serial", "mon:stdio"]
        self.process = subprocess.Popen(command)
        return self.process.wait()

    def log(self) -> str:
        """The end of the guest's serial console."""
        text = self.serial.read_text(errors="replace") if self.serial.exists() else "(nothing)"
        lines = text.replace("\r", "").splitlines()[-160:]
        return "\n".join(["--- serial console:", *lines, "---"])


class WorkstationGuest(Guest):
    """A machine of its own, in which the package is installed and systemd starts everything, the lab's driver too."""

    memory = 2048
    # Interfaces keep the kernel's names; a machine without a screen has terminals all the same.
    command_line = "console=ttyS0 loglevel=4 panic=-1 net.ifnames=0 audit=0 systemd.show_status=no"
    lower = "/layer:/image"
    boot_limit = 400

    def __init__(self, job: dict, limit: float, image: Path, scenario, more: Path | None = None):
        """`more`: files for scenarios about the package, which come to /run/lab/bin."""
        super().__init__(job, limit)
        self.image = image
        for program in ("marker", "notifications", "authentication"):
            shutil.copy(CACHE / program, self.binaries / program)
        for path in more.iterdir() if more and scenario.package else ():
            shutil.copy(path, self.binaries / path.name)
        compile_driver(self.binaries / "compiled")
        self.layer = self.directory / "layer"
        self.layer.mkdir()
        write_layer(self.layer, scenario.stations, scenario.services, job["do"] == "shell")

    def roots(self) -> dict[str, Path]:
        return {"image": self.image, "cache": CACHE, "layer": self.layer}

    def start(self, command: str) -> str:
        return SYSTEMD
