from math import sqrt


def steps(n, x, y, vx, vy):
    while n:
        r2 = x * x + y * y
        r3 = r2 * sqrt(r2)
        vx, vy = vx - 0.001 * (x / r3), vy - 0.001 * (y / r3)
        n, x, y = n - 1, x + 0.001 * vx, y + 0.001 * vy
    return x


print(steps(5_000_000, 1.0, 0.0, 0.0, 1.0))
