#!/usr/bin/env python3
"""Writes the system call filters of sandboxes, x86_64.bpf and aarch64.bpf, beside this file.

The source is moby-default.json: Docker's default profile, github.com/moby/profiles v0.2.4, Apache-2.0. It is read for a
process without capabilities; DENIED is taken away from it. Needs libseccomp's Python binding (Debian: python3-seccomp).
With --check nothing is written, and the exit code is 1 where a file is out of date.
"""

import json
import os
import sys

import seccomp

FOLDER = os.path.dirname(os.path.abspath(__file__))

# libseccomp's name of the architecture, the profile's, and that of the 32-bit calls the same kernel takes.
ARCHITECTURES = {
    "x86_64": (seccomp.Arch.X86_64, "amd64", [seccomp.Arch.X86]),
    "aarch64": (seccomp.Arch.AARCH64, "arm64", []),
}

# Allowed by the profile, but a way to the executor beside the commands or to the kernel's larger surfaces.
DENIED = {
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
    "userfaultfd", "keyctl", "add_key", "request_key", "bpf", "perf_event_open",
    "io_uring_setup", "io_uring_enter", "io_uring_register",
}

# Bubblewrap's init and the executor with its threads have process ids below 32; commands have higher ones, by
# sandbox-image/executor/run/first-pid.ts. Signals to the low ids, to their groups and to "all processes" are refused.
SIGNALLING = ["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open"]
FIRST_BIT, SIGN = 5, 1 << 31

# Newer than libseccomp 2.5.4: numbers are the same on both architectures.
NUMBERS = {
    "cachestat": 451, "fchmodat2": 452, "map_shadow_stack": 453, "futex_wake": 454, "futex_wait": 455,
    "futex_requeue": 456, "statmount": 457, "listmount": 458, "mseal": 462,
}

OPERATORS = {
    "SCMP_CMP_NE": seccomp.NE, "SCMP_CMP_LT": seccomp.LT, "SCMP_CMP_LE": seccomp.LE, "SCMP_CMP_EQ": seccomp.EQ,
    "SCMP_CMP_GE": seccomp.GE, "SCMP_CMP_GT": seccomp.GT,
}


def applies(rule, architecture):
    includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
    if includes.get("caps") or architecture in excludes.get("arches", []):
        return False
    return "arches" not in includes or architecture in includes["arches"]


def build_argument(condition):
    index, value = condition["index"], condition["value"]
    if condition["op"] == "SCMP_CMP_MASKED_EQ":
        return seccomp.Arg(index, seccomp.MASKED_EQ, value, condition.get("valueTwo", 0))
    return seccomp.Arg(index, OPERATORS[condition["op"]], value)


def add_rule(filters, rule, name):
    action = seccomp.ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else seccomp.ERRNO(rule.get("errnoRet", 1))
    try:
        filters.add_rule(action, NUMBERS.get(name, name), *[build_argument(item) for item in rule.get("args") or []])
    except RuntimeError:
        pass  # not a call of this architecture


def build_filter(arch, architecture, also, profile):
    filters = seccomp.SyscallFilter(seccomp.ERRNO(profile["defaultErrnoRet"]))
    filters.set_attr(seccomp.Attr.CTL_OPTIMIZE, 2)
    if arch != seccomp.Arch():
        filters.remove_arch(seccomp.Arch())
        filters.add_arch(arch)
    for other in also:
        filters.add_arch(other)
    for rule in profile["syscalls"]:
        if not applies(rule, architecture):
            continue
        for name in rule["names"]:
            if name not in DENIED and name not in SIGNALLING:
                add_rule(filters, rule, name)
    for name in SIGNALLING:
        allow_signals(filters, name)
    return filters


def allow_signals(filters, name):
    """Allows `name` for targets from 32 up, for groups from 33 up and for the caller's own group (0).

    A rule cannot say "all but these", so there is one for each bit that such a number has, or a negative one lacks. The
    kernel reads 32 bits of the argument, so the rules look at no more.
    """
    filters.add_rule(seccomp.ALLOW, name, seccomp.Arg(0, seccomp.MASKED_EQ, 0xFFFFFFFF, 0))
    for bit in range(FIRST_BIT, 31):
        mask = SIGN | 1 << bit
        filters.add_rule(seccomp.ALLOW, name, seccomp.Arg(0, seccomp.MASKED_EQ, mask, 1 << bit))
        filters.add_rule(seccomp.ALLOW, name, seccomp.Arg(0, seccomp.MASKED_EQ, mask, SIGN))


def export(filters):
    read, write = os.pipe()
    with os.fdopen(write, "wb") as target:
        filters.export_bpf(target)
    with os.fdopen(read, "rb") as source:
        return source.read()


def main():
    with open(os.path.join(FOLDER, "moby-default.json"), encoding="utf8") as file:
        profile = json.load(file)
    stale = []
    for name, (arch, architecture, also) in ARCHITECTURES.items():
        program = export(build_filter(arch, architecture, also, profile))
        path = os.path.join(FOLDER, f"{name}.bpf")
        if "--check" in sys.argv:
            with open(path, "rb") as file:
                if file.read() != program:
                    stale.append(path)
            continue
        with open(path, "wb") as file:
            file.write(program)
        print(f"{path}: {len(program) // 8} instructions")
    for path in stale:
        print(f"{path} is out of date: run {sys.argv[0]}", file=sys.stderr)
    sys.exit(1 if stale else 0)


main()
