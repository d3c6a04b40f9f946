import os
import subprocess
import tempfile


def collect(files):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "from here"), os.path.join(folder, "to here")
        os.makedirs(source)
        os.makedirs(target)
        for name, text in files.items():
            path = os.path.join(source, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        run = ["bash", "collect.sh", source, target]
        done = subprocess.run(run, capture_output=True, text=True, timeout=60)
        found = {name: open(os.path.join(target, name)).read() for name in os.listdir(target)}
        return done.returncode, done.stdout.strip(), found


assert collect({}) == (0, "0", {}), collect({})
files = {"a b.txt": "1", "-n.txt": "2", "c.md": "3", "x/a b.txt": "4", "y/deep/a b.txt": "5", "*.txt": "6"}
wanted = {"a b.txt": "1", "-n.txt": "2", "a b.txt.2": "4", "a b.txt.3": "5", "*.txt": "6"}
assert collect(files) == (0, "5", wanted), collect(files)
