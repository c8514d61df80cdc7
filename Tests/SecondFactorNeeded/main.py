"""Every test of this directory, in a mount namespace that `run` has made."""

import sys
import unittest
from pathlib import Path

from stage import AGENT, accounts, set_up

if __name__ == "__main__":
    set_up()
    with accounts(f"vicinity:x:{AGENT}:{AGENT}::/:/usr/sbin/nologin\nada:x:4713:4713::/:/bin/sh\n"):
        tests = unittest.defaultTestLoader.discover(str(Path(__file__).parent))
        result = unittest.TextTestRunner().run(tests)
    sys.exit(not result.wasSuccessful())
