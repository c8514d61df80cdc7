"""What PAM makes of the lines of docs/second-factor.md: real libpam, pam_unix, pam_exec and pam_oath, and codes of
oathtool."""

import os
import re
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from stage import AGENT, DIRECTORY, PROGRAM, SECOND, STRANGER, boottime, mount, says, skip

MANUAL = Path(__file__).parents[2] / "docs/second-factor.md"
INSTALLED = Path("/usr/libexec/vicinity/second-factor-needed")
USERS = Path("/run/elsewhere/users.oath")
SECRET = "3132333435363738393031323334353637383930"  # of RFC 6238, appendix B
PASSWORD = "test value one"


def lines_of_the_manual() -> list[str]:
    """The two that a stack takes after its password."""
    lines = [line.strip() for line in MANUAL.read_text().splitlines() if re.match(r"    auth .*(pam_exec|usersfile=)", line)]
    place = next(place for place, line in enumerate(lines) if "pam_exec" in line)
    return lines[place:place + 2]


def code(ahead: int = 0) -> str:
    return subprocess.run(["oathtool", "--totp", f"--now=@{int(time.time()) + ahead}", SECRET], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


class StackTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for directory in ("/usr/libexec", "/etc/pam.d"):
            mount("-t", "tmpfs", "-o", "mode=0755", "tmpfs", directory)
        shadow = Path("/run/elsewhere/shadow")
        hashed = subprocess.run(["openssl", "passwd", "-6", "-stdin"], input=PASSWORD, check=True, text=True,
                                stdout=subprocess.PIPE).stdout.strip()
        shadow.write_text(f"root:*:1:0:99999:7:::\nada:{hashed}:1:0:99999:7:::\n")
        shadow.chmod(0o600)
        mount("--bind", str(shadow), "/etc/shadow")
        stack = ["auth required pam_unix.so nodelay", *lines_of_the_manual()]
        Path("/etc/pam.d/test").write_text("\n".join(stack).replace("/etc/users.oath", str(USERS)) + "\n")

    @classmethod
    def tearDownClass(cls):
        for directory in ("/etc/shadow", "/etc/pam.d", "/usr/libexec"):
            subprocess.run(["umount", directory], check=True)

    def setUp(self):
        for path in DIRECTORY.iterdir():
            path.unlink()
        os.chown(DIRECTORY, 0, 0)
        os.chmod(DIRECTORY, 0o755)
        INSTALLED.parent.mkdir(exist_ok=True)
        shutil.copy(PROGRAM, INSTALLED)
        USERS.write_text(f"HOTP/T30/6 ada - {SECRET}\n")
        USERS.chmod(0o600)

    def passes(self, *typed: str) -> bool:
        """Whether ada gets through; what is asked of her is at most what she types."""
        result = subprocess.run(["pamtester", "test", "ada", "authenticate"], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, input="".join(f"{line}\n" for line in typed), timeout=60)
        self.asks = "One-time password" in result.stdout
        return result.returncode == 0

    def test_away_the_password_and_the_right_code_pass_and_nothing_less(self):
        self.assertTrue(self.passes(PASSWORD, code()))
        self.assertTrue(self.asks)
        USERS.write_text(f"HOTP/T30/6 ada - {SECRET}\n")
        for typed in ([PASSWORD], [PASSWORD, ""], [PASSWORD, code(3600)], [PASSWORD, "000000000"], [PASSWORD, PASSWORD],
                      ["wrong", code()], [code(), PASSWORD], [code(), code()], []):
            with self.subTest(typed):
                self.assertFalse(self.passes(*typed))

    def test_a_code_passes_once(self):
        right = code()
        self.assertTrue(self.passes(PASSWORD, right))
        self.assertFalse(self.passes(PASSWORD, right))
        self.assertFalse(self.passes(PASSWORD, code(-30)))
        self.assertTrue(self.passes(PASSWORD, code(30)))

    def test_where_it_may_be_skipped_the_password_is_enough_and_needed(self):
        with says(skip):
            self.assertTrue(self.passes(PASSWORD))
            self.assertFalse(self.asks)
            self.assertFalse(self.passes("wrong"))
            self.assertFalse(self.passes("wrong", code()))

    def test_whatever_is_no_answer_of_the_agent_asks_for_the_code(self):
        for name, server in (
                ("needed", says(b"vicinity-second-factor/1 needed %d\n" % boottime())), ("nothing", says(b"")),
                ("old", says(lambda: skip(61 * SECOND))), ("a stranger's", says(skip, STRANGER)), ("root's", says(skip, 0))):
            with self.subTest(name), server:
                self.assertFalse(self.passes(PASSWORD))
                self.assertTrue(self.asks)

    def test_without_the_program_the_code_is_asked_for(self):
        def removed():
            INSTALLED.unlink()

        def no_program():
            INSTALLED.chmod(0o644)

        def not_its_format():
            INSTALLED.write_bytes(b"\0")

        for spoil in (removed, no_program, not_its_format):
            with self.subTest(spoil.__name__), says(skip):
                self.setUp_again()
                spoil()
                self.assertFalse(self.passes(PASSWORD))
                self.assertTrue(self.asks)
                self.assertTrue(self.passes(PASSWORD, code()))

    def setUp_again(self):
        """All but the socket."""
        INSTALLED.unlink(missing_ok=True)
        shutil.copy(PROGRAM, INSTALLED)
        USERS.write_text(f"HOTP/T30/6 ada - {SECRET}\n")

    def test_who_is_not_enrolled_does_not_pass(self):
        for lines in ("", f"HOTP/T30/6 bob - {SECRET}\n", "rubbish\n"):
            with self.subTest(lines):
                USERS.write_text(lines)
                self.assertFalse(self.passes(PASSWORD, code()))
        USERS.unlink()
        self.assertFalse(self.passes(PASSWORD, code()))

    def test_the_environment_changes_nothing(self):
        for variables in ({"PAM_USER": "root"}, {"LD_PRELOAD": "/nonexistent"}, {"PATH": "/nonexistent"}):
            with self.subTest(variables):
                result = subprocess.run(
                    [shutil.which("pamtester"), "test", "ada", "authenticate"], env=variables, input=f"{PASSWORD}\n",
                    text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn("One-time password", result.stdout)


if __name__ == "__main__":
    unittest.main()
