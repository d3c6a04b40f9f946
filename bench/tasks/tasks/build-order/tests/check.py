import subprocess

ORDER = "docs log schema proto client server app test".split()
assert open("order.txt").read().split() == ORDER, open("order.txt").read()


def run(text):
    with open("other.txt", "w") as file:
        file.write(text)
    return subprocess.run(["python3", "build_order.py", "other.txt"], capture_output=True, text=True, timeout=60)


assert run("b: a\nc:\n").stdout.split() == ["a", "b", "c"]
cycle = run("a: b\nb: c\nc: b\nd:\n")
assert (cycle.returncode, cycle.stdout) == (3, ""), cycle
assert cycle.stderr.startswith("cycle: ") and sorted(cycle.stderr.split()[1:]) == ["b", "c"], cycle.stderr
