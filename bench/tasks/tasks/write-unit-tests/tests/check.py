import os
import subprocess
import sys
import tempfile

RIGHT = open("slug.py").read()
assert "test" not in RIGHT and RIGHT.count("def ") == 1, "slug.py was changed"
CHANGES = [
    ("title.lower()", "title"),
    ("]+", "]"),
    ("[^a-z0-9]", "[^a-z]"),
    ('.strip("-")', ""),
    ("[:limit]", ""),
    ("limit=20", "limit=21"),
    ('.rstrip("-")', ""),
    ('"untitled"\n', '""\n'),
]
test = open("test_slug.py").read()


def passes(source):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"slug.py": source, "test_slug.py": test}.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        run = ["python3", "-m", "unittest", "test_slug"]
        done = subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=60)
        return done.returncode == 0 and "Ran 0 tests" not in done.stderr


if not passes(RIGHT):
    sys.exit("the tests fail for the right version")
for before, after in CHANGES:
    head, _, code = RIGHT.rpartition('"""')
    changed = RIGHT.replace(before, after, 1) if before == "limit=20" else head + '"""' + code.replace(before, after, 1)
    assert changed != RIGHT, before
    if passes(changed):
        sys.exit(f"no test fails when {before} becomes {after!r}")
