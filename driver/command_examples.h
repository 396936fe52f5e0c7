// What `baton --help` shows at its end.
#pragma once

namespace driver {

inline constexpr const char* commandExamples =
    R"(
Examples:
  baton check model.rly              say what is wrong with a program
  baton check --hover 3:14 model.rly what stands there, with its type and what it does
  baton fmt model.baton              lay it out as all programs are; `--check` only asks
  baton print --types model.rly      print it with the type of every value
  baton print --notation=baton model.rly
                                     print it in Baton's own notation
  baton explain missing-case         what that message means, with a wrong and a right program
  baton opt model.rly --passes=dead-code,graph-form
                                     print it after passes; `baton passes` lists them
  baton opt model.rly --for=machine --print-after=all
                                     print what the machine runs, and each step of the way there
  baton opt model.rly --bisect --random 42
                                     find the pass that changes what it gives, if one does
  baton lower model.rly              print the loops of its kernels; `baton rewrites` lists what
                                     schedules do to them
  baton grad model.rly --of loss --wrt weight,bias
                                     print the derivative of a definition as a program
  baton run hello.rly                call @main and show what it returns
  baton run model.rly --random 42 --output out.npz
                                     fill all parameters reproducibly, keep the result
  baton run model.rly --input data=cat.npy --input kernel=weights.npz:conv1
  baton run model.rly --input weights.npz --input steps=3 --input scale=[0.5, 2]
  baton run train.rly --input state=last.npz --input key=seed:42 --output last.npz
                                     go on from a result, of whatever type it is
  baton run train.baton --seed 1 --save params=weights.npz
                                     keep a field of the result, by the names of its parts
  baton run model.baton --input p=weights.npz --fix p --input x=x.npy
                                     fill a record by these names, as a constant
  baton run model.rly --random 42 --grad
                                     show the gradients of the result by all inputs too
  baton run model.rly --random 42 --profile --flame-graph time.svg
                                     show where the time goes
  baton test model.baton             run its tests
  baton debug model.rly --random 42  run it step by step
  baton bench model.rly --random 42  call it again and again, and tell what a call takes
  baton cache --clear                forget the kernels that were compiled
  baton compile model.rly -o model.bvm
                                     make an executable, which `run` takes as well
  baton disasm --full model.bvm      print it as a text that `compile` takes

FILE may be - for standard input. `baton COMMAND --help` lists the options of a command.
Exit codes: 0 well, 1 the program is wrong, 2 a file, memory or the command line is wrong,
70 a fault of Baton, 130 interrupted.)";

} // namespace driver
