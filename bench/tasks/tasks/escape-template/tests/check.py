import sys
from html.parser import HTMLParser

sys.path.insert(0, ".")
from render import render

found = []


class Reader(HTMLParser):
    def handle_starttag(self, tag, attrs):
        found.append((tag, dict(attrs)))

    def handle_data(self, data):
        found.append(data)


EVIL = "<script>'\"&</script>"
Reader().feed(render("<p title=\"{{ x }}\" lang='{{ x }}'>{{ x }}</p>{{{ y }}}", {"x": EVIL, "y": "<b>hi</b>"}))
assert found == [("p", {"title": EVIL, "lang": EVIL}), EVIL, ("b", {}), "hi"], found
assert render("[{{ none }}]", {}) == "[]"
assert render("{{ a }}{{ b }}", {"a": "{{ b }}", "b": "1"}) == "{{ b }}1"
assert render("{{ n }}", {"n": 7}) == "7"
