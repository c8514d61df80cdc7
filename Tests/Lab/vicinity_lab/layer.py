"""What the lab puts over the workstation's image at each boot: its own service, who logs in, and what stays asleep."""

import os
from pathlib import Path

# Of no use within minutes, and slow under emulation.
MASKED = """
apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
man-db.timer systemd-tmpfiles-clean.timer
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
Before=NetworkManager.service vicinityd.service

[Service]
Type=notify
Environment=PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONPATH=/run/lab/lab PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
ExecStart=/usr/bin/python3 -m vicinity_lab.workstation
TimeoutStartSec=120
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
