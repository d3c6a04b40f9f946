lines = open("errors.tsv", newline="").read().splitlines()
assert lines == ["billing\t3", "auth\t2", "gateway\t1", "mail\t1"], lines
