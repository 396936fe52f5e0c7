"""Bounds for programs that tests start.

They are in processor time, never in real time: a machine that does other things too makes a program
late, not wrong.
"""
import resource

SECONDS = 60


def processor_time(seconds=SECONDS):
    """In the child: SIGXCPU ends it after so many seconds of work, or after fewer where the parent is
    bound to fewer."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    seconds = seconds if most == resource.RLIM_INFINITY else min(seconds, most)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))
