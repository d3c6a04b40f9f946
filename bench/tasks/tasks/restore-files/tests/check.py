WANTED = {
    "a.txt": "alpha",
    "b/c.txt": "gamma",
    "b/d.txt": "delta!",
    "e.txt": "epsilon",
    "f.txt": "zeta",
    "notes.txt": "keep me",
}
for name, text in WANTED.items():
    assert open(f"live/{name}").read().strip() == text, name
assert open("lost.txt").read().split() == ["b/d.txt"]
