"""In the guest: who is logged in, programs in their sessions, and readers that know nothing of the product."""

import os
import pwd
import subprocess
from pathlib import Path

from .watching import Log, run, wait_for_socket

VT = {"alice": 1, "bob": 2}
SESSION = "loginctl show-user {user} --property=Display --value"
# Besides XDG_CURRENT_DESKTOP, what libproxy 0.4 looks for.
DESKTOPS = {"GNOME": {"DESKTOP_SESSION": "gnome"}, "KDE": {"DESKTOP_SESSION": "plasma", "KDE_FULL_SESSION": "true"}}
# What other programs make of the machine: whose eyes (root or the user's), under which desktop, and the command, in
# which {of} is what the step asks for (below, where it says nothing) and {user} whose it is.
READERS = {
    "proxy-gnome": ("user", "GNOME", ["proxy", "{of}"]),
    "proxy-kde": ("user", "KDE", ["proxy", "{of}"]),
    "apt": ("root", None, ["sh", "-c", "apt-config dump | sed -n 's/^Acquire::\\(.*Proxy.*\\) \"\\(.*\\)\";$/\\1=\\2/p'"]),
    "user-manager": ("user", None, ["systemctl", "--user", "show-environment"]),
    "login-shell": ("user", None, ["bash", "-lc", "env"]),
    "gsettings": ("user", None, ["sh", "-c", "gsettings get {of}"]),
    "kde": ("user", None, ["kreadconfig5", "--file", "kioslaverc", "--group", "Proxy Settings", "--key", "{of}"]),
    "zone": ("root", None, ["firewall-cmd", "--get-zone-of-interface={of}"]),
    "nft-set": ("root", None, ["sh", "-c", "nft -j list set {of} | jq -c '.nftables[] | .set.elem? // empty'"]),
    "connection": ("root", None, ["nmcli", "-g", "GENERAL.STATE", "connection", "show", "{of}"]),
    "locked": ("root", None, ["sh", "-c", f"loginctl show-session --property=LockedHint --value $({SESSION})"]),
    "unit": ("root", None, ["systemctl", "is-active", "{of}"]),
    "user-unit": ("user", None, ["systemctl", "--user", "is-active", "{of}"]),
}
DEFAULTS = {"proxy-gnome": "https://www.example.org/", "proxy-kde": "https://www.example.org/", "zone": "wlan0",
            "gsettings": "org.gnome.system.proxy mode", "kde": "ProxyType"}


def environment(user: str, desktop: str | None = None) -> dict[str, str]:
    """As a program of the session has it."""
    entry = pwd.getpwnam(user)
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": entry.pw_dir, "USER": user, "LOGNAME": user,
                 "SHELL": entry.pw_shell, "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": f"/run/user/{entry.pw_uid}",
                 "DBUS_SESSION_BUS_ADDRESS": f"unix:path=/run/user/{entry.pw_uid}/bus"}
    if desktop:
        variables |= {"XDG_CURRENT_DESKTOP": desktop} | DESKTOPS[desktop]
    return variables


def as_user(user: str, desktop: str | None = None) -> dict:
    """Options of a child that is the user's."""
    if user == "root":
        return {}
    entry = pwd.getpwnam(user)
    return {"env": environment(user, desktop), "user": entry.pw_uid, "group": entry.pw_gid,
            "extra_groups": os.getgrouplist(user, entry.pw_gid), "cwd": entry.pw_dir}


def execute(command: list[str], user: str = "root", desktop: str | None = None, within: bool = False,
            limit: float = 120, typed: str = "") -> tuple[int, str]:
    """Exit status, and output without the last line feed. `within`: as a unit of the user's manager, which makes it
    part of the session to polkit."""
    if user != "root" and within:
        names = ["XDG_CURRENT_DESKTOP", *DESKTOPS[desktop]] if desktop else []
        command = ["systemd-run", "--user", "--quiet", "--collect", "--wait", "--pipe",
                   *(f"--setenv={name}" for name in names), "--", *command]
    result = subprocess.run(command, input=typed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="backslashreplace", timeout=limit, **as_user(user, desktop))
    return result.returncode, result.stdout.rstrip("\n")


def reader(name: str, of: str | None, user: str) -> tuple[list[str], str, str | None]:
    """Command, user and desktop of a reader."""
    whose, desktop, command = READERS[name]
    values = {"{of}": of or DEFAULTS.get(name, ""), "{user}": user}
    for mark, value in values.items():
        command = [word.replace(mark, value) for word in command]
    return command, user if whose == "user" else "root", desktop


def sessions_of(user: str) -> list[str]:
    rows = run("loginctl", "list-sessions", "--no-legend", check=False).splitlines()
    return [row.split()[0] for row in rows if row.split()[2:3] == [user]]


def wait_for_session(log: Log, user: str, limit: float = 240) -> None:
    """A bus of their own, and a session that logind lists: it is there first."""
    uid = pwd.getpwnam(user).pw_uid
    wait_for_socket(Path(f"/run/user/{uid}/bus"), None, limit)
    log.add("session", f"{user}: {', '.join(sessions_of(user))}")
