data = open("turned.ppm", "rb").read()
fields = data.split(None, 4)
assert fields[:4] == [b"P6", b"2", b"3", b"255"], fields[:4]
rows = [[10, 20, 30, 255, 0, 0], [40, 50, 60, 0, 255, 0], [70, 80, 90, 0, 0, 255]]
assert data[-18:] == bytes(number for row in rows for number in row)
assert len(data) - 18 == len(data[:-18].rstrip()) + 1
