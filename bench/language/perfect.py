def perfect(d):
    return None if d == 0 else (perfect(d - 1), d, perfect(d - 1))


def total(t):
    return 0 if t is None else total(t[0]) + t[1] + total(t[2])


print(sum(total(perfect(20)) for _ in range(10)))
