"""A reader of several programs: says when each line arrived. `python3 -m vicinity_lab.stamps JSON`.

The argument is a list of [source, user or null, command]. One process, woken by poll, reads every pipe, so that two
programs' lines can be compared.
"""

import json
import os
import select
import subprocess
import sys
import time


def main() -> None:
    poll = select.poll()
    sources, pending = {}, {}
    for source, user, command in json.loads(sys.argv[1]):
        options = {"user": user, "group": "nogroup", "extra_groups": []} if user else {}
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **options)
        descriptor = process.stdout.fileno()
        sources[descriptor], pending[descriptor] = (source, process), b""
        poll.register(descriptor, select.POLLIN)
        print(json.dumps({"source": source, "pid": process.pid}), flush=True)
    while sources:
        for descriptor, _ in poll.poll():
            at = time.time_ns()
            data = os.read(descriptor, 65536)
            source, _ = sources[descriptor]
            if not data:
                poll.unregister(descriptor)
                del sources[descriptor]
            *lines, pending[descriptor] = (pending[descriptor] + data).split(b"\n")
            for line in lines:
                print(json.dumps({"source": source, "at": at, "text": line.decode(errors="replace")}), flush=True)


main()
