"""The workstation's image with a package in it, and what the lab puts over that at each boot: its own service, who logs
in, and what stays asleep."""

import hashlib
import os
import py_compile
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Of no use within minutes, and slow under emulation.
MASKED = """
apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
man-db.timer systemd-tmpfiles-clean.timer systemd-udev-trigger.service
dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount
sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount
modprobe@configfs.service modprobe@dm_mod.service modprobe@drm.service modprobe@efi_pstore.service
modprobe@fuse.service modprobe@loop.service kmod-static-nodes.service
systemd-binfmt.service systemd-hwdb-update.service systemd-journal-catalog-update.service systemd-pstore.service
systemd-random-seed.service systemd-remount-fs.service systemd-update-done.service systemd-update-utmp.service
systemd-update-utmp-runlevel.service systemd-rfkill.service systemd-rfkill.socket ldconfig.service
NetworkManager-wait-online.service systemd-networkd-wait-online.service
""".split()
SYSTEM = "etc/systemd/system"
# The driver is there before who watches the network, so that nothing of what it does first is missed.
DRIVER = """[Unit]
Description=The lab's driver
DefaultDependencies=no
Wants=dbus.socket
After=systemd-udevd.service systemd-tmpfiles-setup.service local-fs.target dbus.socket
Before=NetworkManager.service vicinityd.service systemd-networkd.service networkd-dispatcher.service firewalld.service

[Service]
Type=notify
Environment=PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONPATH=/run/lab/lab PYTHONPYCACHEPREFIX=/run/lab/bin/compiled LC_ALL=C.UTF-8
ExecStart=/usr/bin/python3 -m vicinity_lab.workstation
TimeoutStartSec=600
KillMode=mixed
"""
LOGIN = """[Service]
ExecStart=
ExecStart=-/sbin/agetty --autologin {user} --noclear %I linux
"""
# The access points' radios are elsewhere soon; until then they are nobody's.
NETWORK_MANAGER = """[main]
no-auto-default=*
[keyfile]
unmanaged-devices=interface-name:wlan?,{stations}interface-name:hwsim0,interface-name:nlmon0
[logging]
level=INFO
"""
FILES = {
    "etc/hostname": "workstation\n",
    "etc/hosts": "127.0.0.1 localhost\n127.0.1.1 workstation\n",
    "etc/machine-id": "6c616220776f726b73746174696f6e00\n",  # with none, systemd takes it for the first boot
    "etc/systemd/journald.conf.d/lab.conf": "[Journal]\nStorage=volatile\nRateLimitIntervalSec=0\n",
    # On a busy host emulation can take its time.
    "etc/systemd/system.conf.d/lab.conf": "[Manager]\nDefaultTimeoutStartSec=300\n",
    f"{SYSTEM}/lab.service": DRIVER,
    f"{SYSTEM}/getty@tty1.service.d/lab.conf": LOGIN.format(user="alice"),
    f"{SYSTEM}/getty@tty2.service.d/lab.conf": LOGIN.format(user="bob"),
    f"{SYSTEM}/serial-getty@ttyS0.service.d/lab.conf": LOGIN.format(user="root"),
}


def write_layer(directory: Path, stations: list[str], services: list[str], shell: bool) -> None:
    """Into an empty directory."""
    excepted = "".join(f"except:interface-name:{station}," for station in stations)
    files = FILES | {"etc/NetworkManager/conf.d/lab.conf": NETWORK_MANAGER.format(stations=excepted)}
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for unit in [*MASKED, *([] if shell else ["serial-getty@ttyS0.service"])]:
        (directory / SYSTEM / unit).symlink_to("/dev/null")
    wanted = {"lab.service": f"/{SYSTEM}/lab.service"} | {unit: f"/lib/systemd/system/{unit}" for unit in services}
    (directory / SYSTEM / "multi-user.target.wants").mkdir()
    for unit, target in wanted.items():
        (directory / SYSTEM / "multi-user.target.wants" / unit).symlink_to(target)
    # Whoever runs the lab may have another umask.
    for path in [directory, *directory.rglob("*")]:
        if not path.is_symlink():
            os.chmod(path, 0o755 if path.is_dir() else 0o644)


def installed(image: Path, package: Path) -> Path:
    """The image with the package in it, as an image that is built with it: what it enables starts with the first boot.
    The last three are kept: another lab may be running over one of them."""
    key = hashlib.sha256(package.read_bytes() + image.with_suffix(".list").read_bytes()).hexdigest()[:16]
    directory = image.with_name(f"installed-{key}")
    if directory.exists():
        os.utime(directory)
        return directory
    for old in sorted(image.parent.glob("installed-*"), key=lambda path: path.stat().st_mtime)[:-2]:
        shutil.rmtree(old)
    making = image.with_name(f"installing-{os.getpid()}")
    # Programs are the image's own files under another name; what dpkg and the package's scripts write to is a copy.
    making.mkdir(mode=0o755)
    subprocess.run(["cp", "--archive", "--link", image / "usr", making], check=True)
    for path in image.iterdir():
        if path.name != "usr":
            subprocess.run(["cp", "--archive", path, making], check=True)
    result = subprocess.run(["dpkg", f"--root={making}", "--force-unsafe-io", "--install", package], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode:
        shutil.rmtree(making)
        raise RuntimeError(f"{package} cannot be installed:\n{result.stdout}")
    os.utime(making)
    making.rename(directory)
    return directory


def write_next(image: Path, package: Path, directory: Path) -> None:
    """For whoever upgrades: the same package as a later version with another default configuration, `next.deb`, not
    compressed, and which files are there without any, `before`."""
    tree = directory / "next"
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^(Version: .*)$", r"\1+next", control.read_text()))
    with (tree / "etc/vicinity/vicinity.toml").open("a") as file:
        file.write("# As of the next version.\n")
    subprocess.run(["dpkg-deb", "-Znone", "--build", tree, directory / "next.deb"], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)
    found = subprocess.run(["find", *(path.name for path in image.iterdir())], cwd=image, check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    (directory / "before").write_text("".join(f"/{name}\n" for name in sorted(found)))


def compile_driver(directory: Path) -> None:
    """For the guest, which would take seconds for it each time; its Python is Debian 12's, as the host's should be."""
    for path in Path(__file__).parent.glob("*.py"):
        py_compile.compile(str(path), f"{directory}/run/lab/lab/vicinity_lab/{path.stem}.{sys.implementation.cache_tag}.pyc",
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
