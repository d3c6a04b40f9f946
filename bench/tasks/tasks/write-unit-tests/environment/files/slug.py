import re


def slug(title, limit=20):
    """A title as part of a URL.

    Letters become small. Each run of other characters than letters and digits becomes one hyphen. No hyphen is
    at the beginning or the end. At most `limit` characters, and no hyphen at the end after cutting. A title
    without letters and digits is "untitled".
    """
    text = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return text[:limit].rstrip("-") or "untitled"
