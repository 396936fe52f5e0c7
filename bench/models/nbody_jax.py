import jax
import jax.numpy as jnp


def accelerations(x, m):
    d = x[None, :] - x[:, None]
    r2 = (d**2).sum(-1) + 1e-2
    return (d * (m / r2**1.5)[..., None]).sum(1)


def simulate(x, v, m, steps, dt=0.01):
    def step(_, state):
        x, v = state
        v = v + dt * accelerations(x, m)
        return x + dt * v, v

    return jax.lax.fori_loop(0, steps, step, (x, v))


def sort(xs):
    if not xs:
        return []
    pivot, *rest = xs
    below = [x for x in rest if x < pivot]
    above = [x for x in rest if x >= pivot]
    return sort(below) + [pivot] + sort(above)
