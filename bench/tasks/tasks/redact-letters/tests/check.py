import subprocess

WANTED = """Dear [email],
your card [card] was charged, not [card].
Order 12345678901234567 was sent by [email]. Phone 0911 1234 5678.
In one piece: [card].
""".replace("\n    ", "\n")
assert open("redacted.txt").read() == WANTED, open("redacted.txt").read()


def redact(text):
    return subprocess.run(["bash", "redact.sh"], input=text, capture_output=True, text=True, check=True).stdout


assert redact("a@b.de, c-d@e-f.org") == "[email], [email]"
assert redact("no @ sign, 1234 5678 9012 345") == "no @ sign, 1234 5678 9012 345"
assert redact("x 4000-0000-0000-0002 y") == "x [card] y"
