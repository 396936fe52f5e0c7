# The end of the new list is written, as loops do it here.
def build(i, cells):
    while i:
        i, cells = i - 1, [i, cells]
    return cells


def double(cells):
    first = last = [0, None]
    while cells:
        last[1] = last = [2 * cells[0] + 1, None]
        cells = cells[1]
    return first[1]


def total(a, cells):
    while cells:
        a, cells = a + cells[0], cells[1]
    return a


print(sum(total(0, double(build(1_000_000, None))) for _ in range(20)))
