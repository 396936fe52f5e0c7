def make(d):
    if d == 0:
        return ("num", 3)
    if d % 3 == 0:
        return ("if", make(d - 1), make(d - 1), ("num", 1))
    return ("add" if d % 2 == 0 else "mul", make(d - 1), make(d - 1))


def evaluate(e):
    kind = e[0]
    if kind == "num":
        return e[1]
    if kind == "add":
        return (evaluate(e[1]) + evaluate(e[2])) & 65535
    if kind == "mul":
        return (evaluate(e[1]) * evaluate(e[2])) & 65535
    return evaluate(e[2]) if evaluate(e[1]) != 0 else evaluate(e[3])


e, a = make(20), 0
for _ in range(50):
    a += evaluate(e)
print(a)
