def insert(k, t):
    if t is None:
        return (None, k, None)
    left, x, right = t
    if k < x:
        return (insert(k, left), x, right)
    if x < k:
        return (left, x, insert(k, right))
    return t


def depth(t):
    return 0 if t is None else 1 + max(depth(t[0]), depth(t[2]))


x, t = 12345, None
for _ in range(1_000_000):
    x = (x * 1103515245 + 12345) & 2147483647
    t = insert(x, t)
print(depth(t))
