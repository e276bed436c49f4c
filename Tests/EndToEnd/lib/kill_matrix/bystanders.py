"""Processes that have nothing to do with weft: many, short-lived, so that they get ids that were others' a
moment ago. Each ends when it is told to, and by nothing else.

usage: bystanders.py FILE

Goes on until FILE is there. Fails, and says how, when one of them has been signalled.
"""

import collections
import os
import sys

AT_ONCE = 100


def begin(living):
    theirs, ours = os.pipe()
    try:
        process = os.fork()
    except BlockingIOError:
        os.close(theirs)
        os.close(ours)
        raise
    if process == 0:
        for descriptor in (ours, *(others for _, others in living)):
            os.close(descriptor)
        os.setsid()
        os.read(theirs, 1)  # until the other end is closed
        os._exit(0)
    os.close(theirs)
    return process, ours


def end(process, ours):
    os.close(ours)
    _, status = os.waitpid(process, 0)
    if status != 0:
        sys.exit(f"a bystander, process {process}, was ended by status {status:#x}")


def main():
    living, count = collections.deque(), 0
    while not os.path.exists(sys.argv[1]):
        try:
            living.append(begin(living))
            count += 1
        except BlockingIOError:  # no id is free
            pass
        if len(living) > AT_ONCE:
            end(*living.popleft())
    while living:
        end(*living.popleft())
    print(f"{count} bystanders came to no harm")


main()
