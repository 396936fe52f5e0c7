def numbers(n, x):
    cells = None
    for _ in range(n):
        x = (x * 1103515245 + 12345) & 2147483647
        cells = [x, cells]
    return cells


def split(n, cells):
    a = None
    for _ in range(n):
        a, cells = [cells[0], a], cells[1]
    return a, cells


def merge(a, b):
    first = last = [0, None]
    while a and b:
        if a[0] <= b[0]:
            last[1] = last = [a[0], None]
            a = a[1]
        else:
            last[1] = last = [b[0], None]
            b = b[1]
    last[1] = a or b
    return first[1]


def sort(n, cells):
    if n < 2:
        return cells
    a, b = split(n // 2, cells)
    return merge(sort(n // 2, a), sort(n - n // 2, b))


def digest(cells):
    a = 0
    while cells:
        a, cells = (a * 31 + cells[0]) & 268435455, cells[1]
    return a


print(digest(sort(1_000_000, numbers(1_000_000, 12345))))
