#!/bin/bash
set -euo pipefail
cat > test_slug.py <<'END'
import unittest
from slug import slug


class SlugTest(unittest.TestCase):
    def test_small(self):
        self.assertEqual(slug("ABC"), "abc")

    def test_runs(self):
        self.assertEqual(slug("a  &  b 7"), "a-b-7")

    def test_ends(self):
        self.assertEqual(slug("  a! "), "a")

    def test_limit(self):
        self.assertEqual(slug("abcdef", 3), "abc")
        self.assertEqual(slug("a" * 30), "a" * 20)

    def test_hyphen_after_cutting(self):
        self.assertEqual(slug("ab cd", 3), "ab")

    def test_empty(self):
        self.assertEqual(slug("?!"), "untitled")
END
