def paginate(items, size):
    """Lists of at most `size` items, in order."""
    pages = []
    start = 0
    while start + size <= len(items):
        pages.append(items[start : start + size])
        start += size
    return pages
