#!/usr/bin/env python3
"""The gradient of a loop that reads or writes single elements of an array costs as much as the loop,
however large the array is.

usage: array_gradients_test.py BATON [CASE]...

Each program is differentiated with an array of 1,000 elements and with one of 1,000,000. What is done
once for all elements is little; what would be done for all of them in each step is a thousand times
as much.
"""
import os
import subprocess
import sys
import tempfile

from limits import processor_time

STEPS, SMALL, LARGE = 8000, 1000, 1000000
HEADER = '#[version = "0.0.5"]\n'
CALLS = """
def @calls(%fs: List[fn (int32, float32) -> float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    match (%fs) {
      Cons(%f, Cons(%g, _)) => @calls(%fs, %i + 1, %g(%i, %f(%i, %sum))),
      _ => %sum
    }
  }
}"""
MAIN = """
def @main(%w: Tensor[(SIZE), float32]) -> float32 { @reads(%w, 0, 0f) }
"""
WRITES = """
def @main(%w: Tensor[(SIZE), float32]) -> float32 { sum(@writes(%w, 0)) }
"""

PROGRAMS = {
    "take": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %x = take(%w, floor_mod(%i, 1000), axis=0);
    @reads(%w, %i + 1, %sum + %x * %x)
  }
}""" + MAIN,
    "take_from_the_flat_array": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    @reads(%w, %i + 1, sin(%sum) + take(%w, floor_mod(%i, 1000)))
  }
}""" + MAIN,
    "take_from_flat_rows": """
def @rows(%w: Tensor[(ROWS, 10), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    @rows(%w, %i + 1, sin(%sum) + take(%w, floor_mod(%i, 1000), mode="wrap"))
  }
}
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) {
  @rows(reshape(%w, newshape=[ROWS, 10]), %i, %sum)
}""" + MAIN,
    "behind_the_call": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %rest = @reads(%w, %i + 1, %sum);
    %rest * 0.5f + take(%w, floor_mod(%i, 1000), axis=0)
  }
}""" + MAIN,
    "in_a_branch": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %x = if (floor_mod(%i, 3) == 0) { take(%w, floor_mod(%i, 1000), axis=0) } else { %sum };
    @reads(%w, %i + 1, %sum + sin(%x))
  }
}""" + MAIN,
    "halves": """
def @half(%w: Tensor[(SIZE), float32], %from: int32, %count: int32) -> float32 {
  if (%count == 1) { take(%w, floor_mod(%from, 1000), axis=0) } else {
    let %first = %count / 2;
    @half(%w, %from, %first) * @half(%w, %from + %first, %count - %first)
  }
}
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) { @half(%w, %i, STEPS) }
""" + MAIN,
    "nested_loops": """
def @inner(%w: Tensor[(SIZE), float32], %i: int32, %end: int32, %sum: float32) -> float32 {
  if (%i == %end) { %sum } else { @inner(%w, %i + 1, %end, %sum + take(%w, floor_mod(%i, 1000), axis=0)) }
}
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  if (%i >= STEPS) { %sum } else { @reads(%w, %i + 5, @inner(%w, %i, %i + 5, sin(%sum))) }
}""" + MAIN,
    "loop_of_the_prelude": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  @loop(0, STEPS, fn (%k: int32, %s: float32) { sin(%s) + take(%w, floor_mod(%k, 1000), axis=0) }, %sum)
}""" + MAIN,
    "gather": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %at = reshape(floor_mod(%i, 1000), newshape=[1]);
    @reads(%w, %i + 1, %sum + sum(gather(%w, %at, axis=0)))
  }
}""" + MAIN,
    "gather_nd": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %at = reshape(floor_mod(%i, 1000), newshape=[1, 1]);
    @reads(%w, %i + 1, %sum + sum(gather_nd(%w, %at)))
  }
}""" + MAIN,
    "strided_slice": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %x = strided_slice(%w, begin=[3], end=[9], strides=[2], axes=None);
    @reads(%w, %i + 1, sin(%sum) + sum(%x))
  }
}""" + MAIN,
    "slice_like": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %n = dyn.ones(reshape(floor_mod(%i, 900) + 1, newshape=[1]), shape=[0], dtype="float32");
    @reads(%w, %i + 1, sin(%sum) + take(slice_like(%w, %n, axes=None), 0, axis=0))
  }
}""" + MAIN,
    "slice_like_of_a_named_size": """
def @reads(%w: Tensor[(n), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %three = full(%sum, shape=[3], dtype="float32");
    @reads(%w, %i + 1, sin(%sum) + sum(slice_like(%w, %three, axes=None)))
  }
}""" + MAIN,
    "adv_index": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %x = adv_index((%w, floor_mod(%i, 1000)));
    @reads(%w, %i + 1, sin(%sum) + %x * %x)
  }
}""" + MAIN,
    "adv_index_of_two": """
def @rows(%w: Tensor[(ROWS, 10), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %x = adv_index((%w, [1, 2], reshape(floor_mod(%i, 10), newshape=[1])));
    @rows(%w, %i + 1, sin(%sum) + sum(%x * %x))
  }
}
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) {
  @rows(reshape(%w, newshape=[ROWS, 10]), %i, %sum)
}""" + MAIN,
    "adv_index_in_closures": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  let %f = fn (%k: int32, %s: float32) { sin(%s) + adv_index((%w, floor_mod(%k, 1000))) };
  let %g = fn (%k: int32, %s: float32) {
    if (floor_mod(%k, 3) == 0) { %s } else { cos(%s) * adv_index((%w, floor_mod(%k, 1000))) }
  };
  @calls(Cons(%f, Cons(%g, Nil)), %i, %sum)
}""" + CALLS + MAIN,
    "dyn_strided_slice": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %at = reshape(floor_mod(%i, 900), newshape=[1]);
    let %x = dyn.strided_slice(%w, %at, %at + 3, [1], begin=None, end=None, strides=None, axes=None);
    @reads(%w, %i + 1, sin(%sum) + sum(%x))
  }
}""" + MAIN,
    "rows": """
def @rows(%w: Tensor[(ROWS, 10), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    @rows(%w, %i + 1, %sum + sum(sin(take(%w, floor_mod(%i, 100), axis=0))))
  }
}
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) {
  @rows(reshape(%w, newshape=[ROWS, 10]), %i, %sum)
}""" + MAIN,
    "in_a_tuple": """
def @parts(%p: (Tensor[(SIZE), float32], float32), %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %x = take(%p.0, floor_mod(%i, 1000), axis=0);
    @parts(%p, %i + 1, %sum + %x * %x * %p.1)
  }
}
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) { @parts((%w, 2f), %i, %sum) }
""" + MAIN,
    "slices_of_a_named_size": """
def @reads(%w: Tensor[(n), float32], %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    let %x = sum(strided_slice(%w, begin=[2], end=[5], strides=[1], axes=None));
    @reads(%w, %i + 1, sin(%sum) + %x)
  }
}""" + MAIN,
    "in_records": """
type Net { Net(Tensor[(SIZE), float32], float32) }
type Model { Model(Net, (float32, int32)) }
def @read(%n: Net, %i: int32) {
  match (%n) { Net(%t, %scale) => %scale * take(%t, floor_mod(%i, 1000), axis=0) }
}
def @parts(%m: Model, %i: int32, %sum: float32) -> float32 {
  if (%i == STEPS) { %sum } else {
    match (%m) { Model(%n, (%f, _)) => @parts(%m, %i + 1, sin(%sum) + %f * @read(%n, %i)) }
  }
}
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) {
  @parts(Model(Net(%w, 2f), (3f, 1)), %i, %sum)
}""" + MAIN,
    "in_records_of_any_type": """
type Box[T] { Box(T, int32) }
def @parts(%b: Box[Tensor[(SIZE), float32]], %sum: float32) -> float32 {
  match (%b) {
    Box(%t, %i) => if (%i == STEPS) { %sum } else {
      @parts(Box(%t, %i + 1), sin(%sum) + take(%t, floor_mod(%i, 1000), axis=0))
    }
  }
}
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) { @parts(Box(%w, %i), %sum) }
""" + MAIN,
    "in_records_of_a_named_size": """
type Box[T] { Box(T, int32) }
def @parts(%b: Box[Tensor[(n), float32]], %sum: float32) -> float32 {
  match (%b) {
    Box(%t, %i) => if (%i == STEPS) { %sum } else {
      @parts(Box(%t, %i + 1), sin(%sum) + take(%t, floor_mod(%i, 1000), axis=0))
    }
  }
}
def @reads(%w: Tensor[(n), float32], %i: int32, %sum: float32) { @parts(Box(%w, %i), %sum) }
""" + MAIN,
    "closures_of_unknown_origin": """
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  let %f = fn (%k: int32, %s: float32) { sin(%s) + take(%w, floor_mod(%k, 1000), axis=0) };
  let %g = fn (%k: int32, %s: float32) {
    if (floor_mod(%k, 3) == 0) { %s } else { cos(%s) * take(%w, floor_mod(%k, 1000), axis=0) }
  };
  @calls(Cons(%f, Cons(%g, Nil)), %i, %sum)
}""" + CALLS + MAIN,
    "closures_that_hand_on": """
def @one(%w: Tensor[(SIZE), float32], %i: int32) { take(%w, floor_mod(%i, 1000), axis=0) }
def @some(%w: Tensor[(SIZE), float32], %i: int32, %end: int32, %sum: float32) -> float32 {
  if (%i == %end) { %sum } else { @some(%w, %i + 1, %end, sin(%sum) * @one(%w, %i)) }
}
def @reads(%w: Tensor[(SIZE), float32], %i: int32, %sum: float32) -> float32 {
  let %f = fn (%k: int32, %s: float32) { @some(%w, %k, %k + 2, %s) + @some(%w, %k, %k + 1, %s) };
  let %g = fn (%k: int32, %s: float32) {
    let %t = if (floor_mod(%k, 3) == 0) { %s } else { cos(%s) * @some(%w, %k, %k + 1, %s) };
    %t * take(%w, floor_mod(%k, 1000), axis=0)
  };
  @calls(Cons(%f, Cons(%g, Nil)), %i, %sum)
}""" + CALLS + MAIN,
    "scatter_elements": """
def @writes(%w: Tensor[(SIZE), float32], %i: int32) -> Tensor[(SIZE), float32] {
  if (%i == STEPS) { %w } else {
    let %x = take(%w, floor_mod(%i, 1000), axis=0);
    let %at = reshape(floor_mod(%i + 1, 1000), newshape=[1]);
    @writes(scatter_elements(%w, %at, reshape(sin(%x), newshape=[1]),
            attrs_type_key="relay.attrs.ScatterElementsAttrs"), %i + 1)
  }
}""" + WRITES,
    "state_in_a_tuple": """
def @steps(%s: (Tensor[(SIZE), float32], int32)) -> Tensor[(SIZE), float32] {
  if (%s.1 == STEPS) { %s.0 } else {
    let %x = take(%s.0, floor_mod(%s.1, 1000), axis=0);
    let %at = reshape(floor_mod(%s.1 + 1, 1000), newshape=[1]);
    @steps((scatter_elements(%s.0, %at, reshape(sin(%x), newshape=[1]),
            attrs_type_key="relay.attrs.ScatterElementsAttrs"), %s.1 + 1))
  }
}
def @writes(%w: Tensor[(SIZE), float32], %i: int32) { @steps((%w, %i)) }
""" + WRITES,
    "state_in_a_record": """
type State { State(Tensor[(SIZE), float32], int32) }
def @steps(%s: State) -> Tensor[(SIZE), float32] {
  match (%s) {
    State(%w, %i) => if (%i == STEPS) { %w } else {
      let %x = take(%w, floor_mod(%i, 1000), axis=0);
      let %at = reshape(floor_mod(%i + 1, 1000), newshape=[1]);
      @steps(State(scatter_elements(%w, %at, reshape(sin(%x), newshape=[1]),
             attrs_type_key="relay.attrs.ScatterElementsAttrs"), %i + 1))
    },
  }
}
def @writes(%w: Tensor[(SIZE), float32], %i: int32) { @steps(State(%w, %i)) }
""" + WRITES,
    "scatter_nd": """
def @writes(%w: Tensor[(SIZE), float32], %i: int32) -> Tensor[(SIZE), float32] {
  if (%i == STEPS) { %w } else {
    let %x = take(%w, floor_mod(%i, 1000), axis=0);
    let %at = reshape(floor_mod(%i + 1, 1000), newshape=[1, 1]);
    @writes(scatter_nd(%w, %at, reshape(sin(%x), newshape=[1]), mode="add",
            attrs_type_key="relay.attrs.ScatterNDAttrs"), %i + 1)
  }
}""" + WRITES,
}

# Those that have a product with the Hessian too, in the place of a gradient.
SECOND = "{ sum(hvp(@reads)(%w, 0, 0f, %w)) }"
OF_SECOND_ORDER = {"take", "take_from_the_flat_array", "gather", "gather_nd", "strided_slice",
                   "slices_of_a_named_size", "slice_like_of_a_named_size", "adv_index",
                   "adv_index_of_two"}


def seconds(baton, program, engine, size, steps, order):
    """The processor time of a derivative of that order."""
    if order == 2:
        program = program.replace("{ @reads(%w, 0, 0f) }", SECOND)
    text = program.replace("SIZE", str(size)).replace("ROWS", str(size // 10))
    with tempfile.NamedTemporaryFile("w", suffix=".rly") as file:
        file.write(HEADER + text.replace("STEPS", str(steps)))
        file.flush()
        command = [baton, "run", file.name, "--random", "1", "--engine", engine]
        command += ["--grad"] if order == 1 else []
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              preexec_fn=processor_time) as process:
            said = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"exit status {process.returncode}: {said.decode()}")
    return usage.ru_utime + usage.ru_stime


def main():
    baton, names = sys.argv[1], sys.argv[2:] or list(PROGRAMS)
    problems = 0
    for name in names:
        # Copies of all elements would take ten times this.
        runs = [("vm", STEPS, 1), ("loops", STEPS // 4, 1)]
        if name in OF_SECOND_ORDER:
            runs.append(("vm", STEPS // 2, 2))
        for engine, steps, order in runs:
            small = seconds(baton, PROGRAMS[name], engine, SMALL, steps, order)
            large = seconds(baton, PROGRAMS[name], engine, LARGE, steps, order)
            if large > 1.5 * small + 0.3:
                problems += 1
                print(f"{name} on {engine}, order {order}: {large:.2f} s where a small array takes "
                      f"{small:.2f} s")
    print(f"{problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
