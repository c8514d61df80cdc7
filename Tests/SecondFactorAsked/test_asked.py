"""Whose answer is right, and everything that is none."""

import os
import pty
import select
import signal
import socket
import struct
import subprocess
import unittest
from pathlib import Path
from urllib.parse import unquote

import machine
from machine import Asked, Pinentry, code


def setUpModule():
    machine.set_up()


class AskedTests(unittest.TestCase):
    def setUp(self):
        machine.service(machine.FACTOR)
        machine.enrol()

    def ask(self, *pins, greeting=Pinentry.GREETING, replies=None, **options):
        """The answer, and what the pinentry heard."""
        with Asked(**options) as asked:
            pinentry = Pinentry(asked, *pins, greeting=greeting, replies=replies)
            answer = asked.answer()
            self.assertEqual(asked.process.stderr.read(), b"")
            return answer, pinentry.end()


class CodeTests(AskedTests):
    def test_the_right_code_is_right_once(self):
        answer, heard = self.ask(code(0), message="Confirm\u00e9 (network office) 100%")
        self.assertEqual(answer, "right")
        self.assertEqual([line.split()[0] for line in heard], ["SETTITLE", "SETTIMEOUT", "SETDESC", "SETPROMPT", "GETPIN"])
        said = dict(line.split(" ", 1) for line in heard if " " in line)
        self.assertEqual(unquote(said["SETDESC"]), "Confirm\u00e9 (network office) 100%")
        self.assertEqual(said["SETTIMEOUT"], "30")
        self.assertIn("ada", said["SETPROMPT"])
        self.assertEqual(self.ask(code(0))[0], "wrong")
        self.assertEqual(self.ask(code(1))[0], "right")

    def test_wrong_codes_are_wrong(self):
        for pin in ["000000", "", code(0)[:-1], code(0) + "0", "\u0666" * 6, "x" * 400]:
            with self.subTest(pin=pin):
                self.assertEqual(self.ask(pin)[0], "wrong")
        # One that is tried after those is right all the same.
        self.assertEqual(self.ask(code(0))[0], "right")

    def test_the_password_is_not_enough(self):
        machine.service(machine.PASSWORD_AND_FACTOR)
        self.assertEqual(self.ask(machine.PASSWORD, "000000")[0], "wrong")
        self.assertEqual(self.ask("wrong", code(0))[0], "wrong")
        answer, heard = self.ask(machine.PASSWORD, code(1))
        self.assertEqual(answer, "right")
        self.assertEqual(len([line for line in heard if line == "GETPIN"]), 2)

    def test_who_is_not_enrolled_does_not_pass(self):
        machine.OATH.write_text("")
        self.assertEqual(self.ask(code(0))[0], "wrong")
        machine.OATH.unlink()
        self.assertNotEqual(self.ask(code(0))[0], "right")

    def test_an_expired_account_does_not_pass(self):
        machine.service(machine.PASSWORD_AND_FACTOR)
        shadow = Path("/etc/shadow").read_text()
        self.addCleanup(Path("/etc/shadow").write_text, shadow)
        Path("/etc/shadow").write_text(shadow.replace(":19000:0:99999:7:::", ":19000:0:99999:7::1:"))
        self.assertEqual(self.ask(machine.PASSWORD, code(0))[0], "failed account")

    def test_another_user_than_said_is_not_asked(self):
        for options in [{"uid": 4712}, {"user": "nobody-at-all"}, {"user": "root"}]:
            self.assertEqual(self.ask(code(0), **options)[0], "failed account")

    def test_without_a_service_of_its_own_nobody_is_asked(self):
        machine.SERVICE.unlink()
        Path("/etc/pam.d/other").write_text("auth required pam_permit.so\naccount required pam_permit.so\n")
        answer, heard = self.ask(code(0))
        self.assertEqual((answer, heard), ("failed service", []))

    def test_a_broken_service_fails(self):
        for text in ["auth required pam_no_such_module.so\n", "auth nonsense pam_permit.so\n", "\0\0", "auth\n"]:
            with self.subTest(text=text):
                machine.service(text)
                self.assertNotIn(self.ask(code(0))[0], ["right", None])

    def test_texts_of_modules_are_shown_and_not_waited_for(self):
        machine.service("auth optional pam_echo.so file=/etc/cue\n" + machine.FACTOR)
        Path("/etc/cue").write_text("Touch \u202e the key\x1b[2J\n100%\n")
        # One that touches a key answers no dialogue.
        machine.service("auth optional pam_echo.so file=/etc/cue\nauth required pam_permit.so\naccount required pam_permit.so\n")
        answer, heard = self.ask(replies={"MESSAGE": "hang"})
        self.assertEqual(answer, "right")
        description = next(line for line in heard if line.startswith("SETDESC"))
        self.assertIn("Touch", description)
        self.assertNotIn("\x1b", description)
        # And whoever has to answer as well does so after it.
        machine.service("auth optional pam_echo.so file=/etc/cue\n" + machine.FACTOR)
        answer, heard = self.ask(code(0))
        self.assertEqual((answer, heard.count("MESSAGE"), heard.count("GETPIN")), ("right", 1, 1))


class PinentryTests(AskedTests):
    def test_whoever_dismisses_the_question_has_failed(self):
        for error in [b"ERR 83886179 Operation cancelled <Pinentry>\n", b"ERR 83886194 \n", b"ERR 83886179\n", b"ERR 99\n"]:
            for command in ["GETPIN", "SETPROMPT"]:
                self.assertEqual(self.ask(code(0), replies={command: error})[0], "failed dismissed")
        self.assertEqual(self.ask(code(0), replies={"GETPIN": b"ERR 83886142 Timeout <Pinentry>\n"})[0], "failed timeout")

    def test_a_dismissed_question_fails_though_pam_would_go_on(self):
        machine.service("auth optional pam_oath.so usersfile=/etc/users.oath\nauth required pam_permit.so\naccount required pam_permit.so\n")
        self.assertEqual(self.ask(code(0), replies={"GETPIN": b"ERR 83886179\n"})[0], "failed dismissed")
        self.assertEqual(self.ask(code(0), replies={"GETPIN": "die"})[0], "failed dialogue")

    def test_garbage_is_no_answer(self):
        right = code(0).encode()
        replies = {
            "no line": b"\xff" * 100 + b"\n", "empty": b"\n", "a question": b"INQUIRE X\n", "small": b"ok\n",
            "a prefix": b"OKAY\n", "no error": b"ERR\n", "no number": b"ERR x\n", "negative": b"ERR -1\n",
            "a hundred digits": b"ERR " + b"9" * 100 + b"\n", "no escape": b"D %\nOK\n", "half an escape": b"D %4\nOK\n",
            "hexadecimal": b"D %zz\nOK\n", "a NUL": b"D " + right + b"%00\nOK\n", "a raw NUL": b"D " + right + b"\0\nOK\n",
            "a LF": b"D " + right + b"%0A\nOK\n", "a CR": b"D " + right + b"\r\nOK\n", "D alone": b"D\nOK\n",
            "more than an answer": b"D " + right + b"\nOK\nOK\n", "too long a line": b"D " + b"1" * 999 + b"\nOK\n",
            "an endless line": b"1" * 100_000, "too long an answer": (b"D " + b"1" * 300 + b"\n") * 2 + b"OK\n",
            "too much talk": b"# x\n" * 64 + b"D " + right + b"\nOK\n", "a quit": b"BYE\n", "CRLF": b"OK\r\n",
            "data after an error": b"D " + right + b"\nERR 1\n",
        }
        for name, reply in replies.items():
            with self.subTest(name):
                answer, _ = self.ask(replies={"GETPIN": reply})
                self.assertIn(answer, ["failed garbled", "failed dialogue"])
        self.assertEqual(self.ask(code(0), greeting=b"SSH-2.0-OpenSSH\n")[0], "failed garbled")
        self.assertEqual(self.ask(code(0), greeting=b"OK\nOK\n")[0], "failed garbled")
        self.assertEqual(self.ask(code(0), replies={"SETDESC": b"D 1\nOK\n"})[0], "failed garbled")
        # None of them has used it up.
        self.assertEqual(self.ask(code(0))[0], "right")

    def test_what_a_server_may_say_is_understood(self):
        pin = code(0)
        reply = f"# hello\nS PASSWORD_FROM_CACHE\nD {pin[:2]}\nD %{ord(pin[2]):02x}{pin[3:]}\nOK closing\n".encode()
        self.assertEqual(self.ask(replies={"GETPIN": reply})[0], "right")

    def test_lines_are_short_whatever_the_message(self):
        answer, heard = self.ask(code(0), message="\u00e9" * 511)
        self.assertEqual(answer, "right")
        self.assertTrue(all(len(line.encode()) <= 1000 for line in heard))
        answer, heard = self.ask(code(1), message="%" * 1000)
        self.assertEqual(answer, "right")
        self.assertTrue(all(len(line.encode()) <= 1000 for line in heard))

    def test_a_pinentry_that_hangs_is_not_waited_for_forever(self):
        with Asked(seconds=1) as asked:
            pinentry = Pinentry(asked, replies={"GETPIN": "hang"})
            pinentry.hears("GETPIN")
            child = asked.child
            self.assertEqual(asked.answer(), "failed timeout")
            self.assertFalse(Path(f"/proc/{child}").exists())
            pinentry.end()


class RealPinentryTests(AskedTests):
    """The program itself, on a terminal of its own, with the dialogue as input and output."""

    def type(self, *lines: str):
        with Asked(message="Confirm \u00e9 100% (network office)") as asked:
            process, terminal = pty.fork()
            if process == 0:
                try:
                    os.environ.update(TERM="dumb", LC_ALL="C.UTF-8")
                    name = os.ttyname(0)
                    os.dup2(asked.dialogue.fileno(), 0)
                    os.dup2(asked.dialogue.fileno(), 1)
                    os.execv("/usr/bin/pinentry-tty", ["pinentry-tty", "--ttyname", name])
                finally:
                    os._exit(127)
            asked.dialogue.close()
            shown = b""
            for line in lines:
                while b"`ada': " not in shown:
                    self.assertTrue(select.select([terminal], [], [], machine.LIMIT)[0], shown)
                    shown += os.read(terminal, 4096)
                os.write(terminal, line.encode())
            answer = asked.answer()
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(terminal)
            return answer, shown.decode()

    def test_the_right_code_and_a_wrong_one(self):
        answer, shown = self.type(code(0) + "\n")
        self.assertEqual(answer, "right")
        self.assertIn("Confirm \u00e9 100% (network office)", shown)
        self.assertEqual(self.type(code(0) + "\n")[0], "wrong")

    def test_a_dismissal(self):
        self.assertEqual(self.type("\x04")[0], "failed dismissed")


class KillTests(AskedTests):
    """Each process killed where a person would answer next; the code is right all the same."""

    def begin(self, asked):
        pinentry = Pinentry(asked, replies={"GETPIN": "hang"})
        pinentry.hears("GETPIN")
        return pinentry, asked.child

    def test_the_pinentry(self):
        for command in ["SETTITLE", "SETDESC", "GETPIN"]:
            self.assertEqual(self.ask(code(0), replies={command: "die"})[0], "failed dialogue")
        self.assertEqual(self.ask(code(0), greeting="die")[0], "failed dialogue")

    def test_pams_process(self):
        with Asked() as asked:
            pinentry, child = self.begin(asked)
            os.kill(child, signal.SIGKILL)
            self.assertEqual(asked.answer(), "failed pam")
            pinentry.end()

    def test_its_parent(self):
        with Asked() as asked:
            pinentry, child = self.begin(asked)
            asked.process.kill()
            self.assertIsNone(asked.answer())
            machine.wait_until(lambda: machine.is_gone(child), "PAM's process ends with it")
            pinentry.end()

    def test_vicinity_act(self):
        for half in [socket.SHUT_RDWR, socket.SHUT_WR]:
            with Asked() as asked:
                pinentry, child = self.begin(asked)
                asked.ours.shutdown(half)
                self.assertEqual(asked.wait(), 0)
                self.assertFalse(Path(f"/proc/{child}").exists())
                pinentry.end()

    def test_whoever_says_more_than_a_request_is_left(self):
        with Asked() as asked:
            pinentry, child = self.begin(asked)
            asked.ours.sendall(b"x")
            asked.wait()
            self.assertIn(asked.answer(), [None])
            self.assertFalse(Path(f"/proc/{child}").exists())
            pinentry.end()

    def test_a_module_that_kills_its_process_and_one_that_exits(self):
        for command in ["kill -KILL $PPID", "kill -TERM $PPID", "kill -STOP $PPID"]:
            with self.subTest(command):
                Path("/etc/module").write_text(f"#!/bin/sh\n{command}\n")
                os.chmod("/etc/module", 0o755)
                machine.service("auth required pam_exec.so quiet /etc/module\nauth required pam_permit.so\naccount required pam_permit.so\n")
                answer, _ = self.ask(seconds=1)
                self.assertIn(answer, ["failed pam", "failed timeout"])

    def test_what_a_module_started_ends_with_it(self):
        Path("/etc/module").write_text("#!/bin/sh\necho $$ > /etc/started\nexec sleep 600\n")
        os.chmod("/etc/module", 0o755)
        machine.service("auth required pam_exec.so quiet /etc/module\n")
        with Asked() as asked:
            started = machine.wait_until(
                lambda: Path("/etc/started").exists() and Path("/etc/started").read_text().strip(), "the module's program")
            asked.ours.close()
            asked.wait()
            # pam_exec puts it into a session of its own.
            machine.wait_until(lambda: machine.is_gone(int(started)), "the module's program ends")


class ConsoleTests(AskedTests):
    """systemd-ask-password, answered as a password agent does: root's datagram to the socket that its file names."""

    def question(self):
        def find():
            for path in machine.QUESTIONS.glob("ask.*"):
                try:
                    text = path.read_text()
                except FileNotFoundError:
                    # Of the question before, which is over.
                    continue
                lines = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
                if "Socket" in lines and lines["Socket"] not in self.answered:
                    return lines
            return None
        found = machine.wait_until(find, "a question")
        self.answered.add(found["Socket"])
        return found

    def setUp(self):
        super().setUp()
        self.answered: set[str] = set()

    @staticmethod
    def reply(question, data: bytes) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as agent:
            agent.sendto(data, question["Socket"])

    def ask_console(self, *answers: bytes, seconds: int = 30):
        with Asked(has_dialogue=False, seconds=seconds, message="Confirm private-words") as asked:
            questions = []
            for answer in answers:
                questions.append(self.question())
                self.reply(questions[-1], answer)
            result = asked.answer()
        self.assertEqual(list(machine.QUESTIONS.glob("ask.*")), [])
        return result, questions

    def test_the_right_code_is_right_once(self):
        result, questions = self.ask_console(b"+" + code(0).encode())
        self.assertEqual(result, "right")
        self.assertEqual(questions[0]["Message"], "Vicinity: second factor of who sits at this machine:")
        self.assertEqual(questions[0]["AcceptCached"], "0")
        text = "".join(f"{key}={value}" for key, value in questions[0].items())
        for private in ["private-words", "ada", "4711"]:
            self.assertNotIn(private, text)
        self.assertEqual(self.ask_console(b"+" + code(0).encode())[0], "wrong")

    def test_the_password_is_asked_for_as_such_and_is_not_enough(self):
        machine.service(machine.PASSWORD_AND_FACTOR)
        result, questions = self.ask_console(b"+" + machine.PASSWORD.encode(), b"+000000")
        self.assertEqual(result, "wrong")
        self.assertEqual(questions[0]["Message"], "Vicinity: password of who sits at this machine:")
        self.assertEqual(self.ask_console(b"+" + machine.PASSWORD.encode(), b"+" + code(1).encode())[0], "right")

    def test_whatever_is_no_answer_fails(self):
        # Cancelled, and more than a line.
        for data in [b"-", b"+" + code(0).encode() + b"\nx"]:
            with self.subTest(data=data):
                self.assertEqual(self.ask_console(data)[0], "failed console")
        self.assertEqual(self.ask_console(b"+")[0], "wrong")
        self.assertEqual(self.ask_console(b"+" + b"1" * 700)[0], "failed garbled")

    def test_nobody_answers(self):
        with Asked(has_dialogue=False, seconds=1) as asked:
            self.question()
            self.assertIn(asked.answer(), ["failed console", "failed timeout"])
        machine.wait_until(lambda: not list(machine.QUESTIONS.glob("ask.*")), "the question goes")

    def test_somebody_who_is_not_root_answers_nothing(self):
        with Asked(has_dialogue=False, seconds=2) as asked:
            question = self.question()
            child = os.fork()
            if child == 0:
                try:
                    os.setresuid(machine.UID, machine.UID, machine.UID)
                    self.reply(question, b"+" + code(0).encode())
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            self.assertIn(asked.answer(), ["failed console", "failed timeout"])

    def test_a_question_that_is_not_asked_any_more_goes(self):
        with Asked(has_dialogue=False) as asked:
            question = self.question()
            asked.ours.close()
            asked.wait()
            self.assertEqual(list(machine.QUESTIONS.glob("ask.*")), [])
            self.assertTrue(machine.is_gone(int(question["PID"])))

    def test_a_killed_systemd_ask_password_fails(self):
        with Asked(has_dialogue=False) as asked:
            os.kill(int(self.question()["PID"]), signal.SIGKILL)
            self.assertEqual(asked.answer(), "failed console")
        for path in machine.QUESTIONS.iterdir():
            path.unlink()

    def test_without_it_nobody_is_asked(self):
        subprocess.run(["mount", "--bind", "/dev/null", "/usr/bin/systemd-ask-password"], check=True)
        self.addCleanup(subprocess.run, ["umount", "/usr/bin/systemd-ask-password"], check=True)
        with Asked(has_dialogue=False) as asked:
            self.assertEqual(asked.answer(), "failed console")


class RequestTests(AskedTests):
    def test_only_requests_are_answered(self):
        lines = [
            b"", b"\n", b"dialogue\n", b"dialogue ada 4711 30\n", b"dialogue ada 4711 30 Confirm more\n",
            b"dialogue ada x 30 Confirm\n", b"dialogue ada 4711 0 Confirm\n", b"dialogue ada 4711 -1 Confirm\n",
            b"dialogue ada 4711 999999 Confirm\n", b"dialogue ada 99999999999999999999 30 Confirm\n",
            b"dialogue  4711 30 Confirm\n", b"dialogue ada 4711 30 \n", b"dialogue ada 4711 30 %00\n",
            b"dialogue ada 4711 30 %0A\n", b"dialogue ada 4711 30 %\n", b"dialogue ada%00 4711 30 Confirm\n",
            b"console ada 4711 30 Confirm\n", b"Dialogue ada 4711 30 Confirm\n", b"x" * 10_000 + b"\n",
            b"dialogue ada 4711 30 " + b"x" * 2_000 + b"\n", b"dialogue ada 4711 30 Confirm\ndialogue ada 4711 30 x\n",
            b"dialogue " + b"a" * 300 + b" 4711 30 Confirm\n", b"dialogue ada 4711 30 Con\0firm\n",
        ]
        for line in lines:
            with self.subTest(line=line[:60]):
                with Asked(line=line or None, send=bool(line)) as asked:
                    if not line:
                        asked.ours.shutdown(socket.SHUT_WR)
                    self.assertIsNone(asked.answer())
                    self.assertEqual(asked.wait(), 65)
        with Asked(line=b"dialogue ada 4711 30 Confirm\n", has_dialogue=False) as asked:
            self.assertIsNone(asked.answer())

    def test_nobody_but_root_may_ask(self):
        program = Path("/etc/vicinity-factor")
        program.write_bytes(machine.PROGRAM.read_bytes())
        program.chmod(0o755)
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind("/etc/factor.sock")
        listener.listen()
        os.chmod("/etc/factor.sock", 0o666)
        self.addCleanup(os.unlink, "/etc/factor.sock")
        for user, expected in [(machine.UID, 65), (0, 0)]:
            child = os.fork()
            if child == 0:
                try:
                    os.setresuid(user, user, user)
                    connection = socket.socket(socket.AF_UNIX)
                    connection.connect("/etc/factor.sock")
                    connection.sendall(b"console nobody-at-all 1 5 Confirm\n")
                    connection.recv(64)
                finally:
                    os._exit(0)
            connection, _ = listener.accept()
            self.assertEqual(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1], user)
            process = subprocess.run([str(program)], stdin=connection, timeout=machine.LIMIT)
            connection.close()
            os.waitpid(child, 0)
            self.assertEqual(process.returncode, expected)


class SecretTests(AskedTests):
    CANARY = "canary-4b1d-secret"

    def test_an_answer_stands_in_no_command_line_and_no_environment(self):
        """Read from every process while PAM waits for the second of two answers."""
        machine.service(machine.PASSWORD_AND_FACTOR)
        with Asked() as asked:
            self.talk(asked)
            for entry in Path("/proc").glob("[0-9]*"):
                for name in ["cmdline", "environ"]:
                    try:
                        self.assertNotIn(self.CANARY.encode(), (entry / name).read_bytes())
                    except ProcessLookupError:
                        pass

    def talk(self, asked):
        """Up to the second question; the first was answered with the canary."""
        lines = asked.dialogue.makefile("rb")
        asked.dialogue.sendall(b"OK\n")
        pins = 0
        while pins < 2:
            line = lines.readline()
            if line == b"GETPIN\n":
                pins += 1
                if pins == 2:
                    break
                asked.dialogue.sendall(b"D " + self.CANARY.encode() + b"\n")
            asked.dialogue.sendall(b"OK\n")

    def test_our_own_buffers_are_wiped(self):
        """Only libpam's own copy is left while a module has it: the password of the first question."""
        machine.service(machine.PASSWORD_AND_FACTOR)
        with Asked() as asked:
            self.talk(asked)
            child = asked.child
            found = []
            for line in Path(f"/proc/{child}/maps").read_text().splitlines():
                words = line.split()
                if not words[1].startswith("rw"):
                    continue
                start, stop = (int(word, 16) for word in words[0].split("-"))
                with open(f"/proc/{child}/mem", "rb", 0) as memory:
                    memory.seek(start)
                    data = memory.read(stop - start)
                # What is read next stands over its beginning.
                if self.CANARY[-11:].encode() in data:
                    found.append(words[5] if len(words) > 5 else "anonymous")
            self.assertLessEqual(set(found), {"[heap]"})


if __name__ == "__main__":
    unittest.main()
