def get_data(path):
    with open(path) as file:
        return [line.strip() for line in file]


def get_data_size(path):
    return len(get_data(path))
