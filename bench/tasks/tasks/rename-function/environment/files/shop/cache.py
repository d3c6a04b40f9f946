from shop.store import get_data


class Cache:
    def __init__(self):
        self.kept = {}

    def get_data(self, path):
        if path not in self.kept:
            self.kept[path] = get_data(path)
        return self.kept[path]
