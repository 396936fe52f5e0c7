import sys


def composed(n, f):
    while n:
        n, f = n - 1, (lambda g: lambda x: g(x + 1))(f)
    return f


# Calls are no tail calls here: a million of them are open.
sys.setrecursionlimit(2_000_000)
a = 0
for _ in range(20):
    a += composed(1_000_000, lambda x: x)(0)
print(a)
