"""What makes `second-factor-needed` say that the factor may be skipped, and everything that must not."""

import os
import socket
import subprocess
import threading
import time
import unittest

from stage import AGENT, DIRECTORY, NEEDED, PROGRAM, SECOND, SKIP, SOCKET, STRANGER, Server, accounts, boottime, says, skip


class NeededTests(unittest.TestCase):
    def setUp(self):
        for path in DIRECTORY.iterdir():
            path.unlink()
        os.chown(DIRECTORY, 0, 0)
        os.chmod(DIRECTORY, 0o755)

    def run_program(self, **options) -> int:
        process = subprocess.run([str(PROGRAM)], capture_output=True, timeout=20, **options)
        self.assertEqual((process.stdout, process.stderr), (b"", b""))
        return process.returncode

    def assert_needed(self, **options) -> None:
        self.assertNotEqual(self.run_program(**options), SKIP)

    def test_a_fresh_answer_of_the_agent_is_believed(self):
        with says(skip):
            self.assertEqual(self.run_program(), SKIP)
            self.assertEqual(self.run_program(user=STRANGER), SKIP)
            self.assertEqual(self.run_program(env={}), SKIP)
            self.assertEqual(self.run_program(stdin=subprocess.DEVNULL, close_fds=True), SKIP)
        with says(lambda: skip(59 * SECOND)):
            self.assertEqual(self.run_program(), SKIP)

    def test_it_comes_in_pieces_if_it_must(self):
        def handle(listener):
            connection, _ = listener.accept()
            for octet in skip():
                connection.sendall(bytes([octet]))
            connection.close()
        with Server(handle):
            self.assertEqual(self.run_program(), SKIP)

    def test_every_other_answer_means_needed(self):
        now = boottime()
        answers = {
            "needed": b"vicinity-second-factor/1 needed %d\n" % now, "old": skip(61 * SECOND),
            "of the future": skip(-3600 * SECOND), "nothing": b"", "a line's end": b"\n", "no end": skip()[:-1],
            "two lines": skip() + skip(), "a word more": skip()[:-1] + b" x\n", "no number": b"vicinity-second-factor/1 skip \n",
            "negative": b"vicinity-second-factor/1 skip -%d\n" % now, "hexadecimal": b"vicinity-second-factor/1 skip 0x%x\n" % now,
            "a space": b"vicinity-second-factor/1 skip  %d\n" % now, "a plus": b"vicinity-second-factor/1 skip +%d\n" % now,
            "another version": skip().replace(b"/1", b"/2"), "capitals": skip().replace(b"skip", b"SKIP"),
            "skipped": skip().replace(b"skip", b"skipped"), "a zero octet": skip().replace(b"skip ", b"skip \0"),
            "an end of DOS": skip().replace(b"\n", b"\r\n"), "too large": b"vicinity-second-factor/1 skip %d\n" % (now << 64),
            "as large as can be": b"vicinity-second-factor/1 skip 9223372036854775807\n", "zero": b"vicinity-second-factor/1 skip 0\n",
            "long": skip()[:-1].ljust(200, b"0") + b"\n", "endless": b"x" * 1_000_000, "binary": os.urandom(64),
            "JSON": b'{"skip":true}\n',
        }
        if now > 100 * SECOND:
            answers["the beginning"] = b"vicinity-second-factor/1 skip 1\n"
        else:
            del answers["zero"]
        for name, answer in answers.items():
            with self.subTest(name), says(answer):
                self.assert_needed()

    def test_nobody_else_is_believed(self):
        for user in (STRANGER, 0, 65_534):
            with self.subTest(user), says(skip, user):
                self.assert_needed()

    def test_without_an_agent_it_is_needed(self):
        self.assert_needed()
        SOCKET.write_bytes(skip())
        self.assert_needed()
        SOCKET.unlink()
        SOCKET.mkdir()
        self.assert_needed()
        SOCKET.rmdir()
        os.mkfifo(SOCKET)
        self.assert_needed()

    def test_who_takes_too_long_is_not_waited_for(self):
        def silent(listener):
            connection, _ = listener.accept()
            time.sleep(60)

        def dripping(listener):
            connection, _ = listener.accept()
            for octet in skip():
                connection.sendall(bytes([octet]))
                time.sleep(0.1)

        def open_ended(listener):
            connection, _ = listener.accept()
            connection.sendall(skip())
            time.sleep(60)

        for handle in (silent, dripping, open_ended, lambda listener: time.sleep(60)):
            with Server(handle):
                began = time.monotonic()
                self.assert_needed()
                # Half a second, and what a busy machine takes to start a program.
                self.assertLess(time.monotonic() - began, 10)

    def test_a_full_queue_is_not_waited_for(self):
        with Server(lambda listener: time.sleep(60), backlog=0):
            others = []
            while True:
                other = socket.socket(socket.AF_UNIX)
                other.setblocking(False)
                others.append(other)
                try:
                    other.connect(str(SOCKET))
                except BlockingIOError:
                    break
            self.assert_needed()
            for other in others:
                other.close()

    def test_it_is_needed_where_others_could_have_put_the_socket(self):
        with says(skip):
            for mode in (0o775, 0o757, 0o777, 0o1777):
                with self.subTest(oct(mode)):
                    os.chmod(DIRECTORY, mode)
                    self.assert_needed()
            os.chmod(DIRECTORY, 0o755)
            for user in (AGENT, STRANGER):
                with self.subTest(user):
                    os.chown(DIRECTORY, user, 0)
                    self.assert_needed()
            os.chown(DIRECTORY, 0, 0)
            os.chmod("/run", 0o777)
            self.assert_needed()
            os.chmod("/run", 0o755)
            self.assertEqual(self.run_program(), SKIP)

    def test_a_link_is_not_followed(self):
        with says(skip):
            os.rename(DIRECTORY, "/run/elsewhere/vicinity")
            DIRECTORY.symlink_to("/run/elsewhere/vicinity")
            self.assert_needed()
            DIRECTORY.unlink()
            os.rename("/run/elsewhere/vicinity", DIRECTORY)
            self.assertEqual(self.run_program(), SKIP)

    def test_an_accounts_name_has_to_be_the_whole_of_it(self):
        for line in ("", f"vicinity2:x:{AGENT}:1::/:/bin/false\n", f"x:x:{AGENT}:1:vicinity:/:/bin/false\n",
                     f"#vicinity:x:{AGENT}:1::/:/bin/false\n", f"Vicinity:x:{AGENT}:1::/:/bin/false\n"):
            with self.subTest(line), accounts(line), says(skip):
                self.assert_needed()

    def test_what_it_is_given_does_not_matter(self):
        with says(b"vicinity-second-factor/1 needed %d\n" % boottime()):
            for words in (["--help"], ["skip"], ["-x", "0"]):
                process = subprocess.run([str(PROGRAM), *words], capture_output=True, input=b"skip\n", timeout=20,
                                         env={"PAM_USER": "root", "VICINITY_SOCKET": "/tmp/x", "LC_ALL": "C"})
                self.assertEqual((process.returncode, process.stdout, process.stderr), (NEEDED, b"", b""))

    def test_many_at_once_get_their_answers(self):
        with says(skip):
            results = []
            threads = [threading.Thread(target=lambda: results.append(self.run_program())) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertIn(SKIP, results)
            self.assertLessEqual(set(results), {SKIP, NEEDED})
