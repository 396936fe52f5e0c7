// The error function.
#include "codegen/math/exponential_parts.h"
#include "codegen/math/functions.h"

namespace codegen::functions {

namespace {

// Near zero x + x P(x^2), else 1 - e^Q(x), which is 1 from the bound on.

MathValue errorFunction32(MathValue x) {
  MathValue size = absolute(x);
  MathValue odd = polynomial(size * size, {0.128379166, -0.376125902, 0.11282865, -0.0268072877,
                                           0.0050577037, -0.000634851865});
  MathValue near = multiplyAdd(size, odd, size);
  MathValue bounded = atMost(size, 3.925);
  MathValue complement = polynomial(bounded, {-1.12853086, -0.635661781, -0.10533724, 0.0229388475,
                                              -0.00323035545, 0.000215870285});
  MathValue far = 1 - scaledOnce(exponentialParts(bounded * complement));
  return copySign(select(size < 0.85, near, far), x);
}

MathValue errorFunction64(MathValue x) {
  MathValue size = absolute(x);
  MathValue odd =
      polynomial(size * size,
                 {0.1283791670955126, -0.376126389031841, 0.11283791670971098, -0.02686617064803117,
                  0.005223977652693198, -0.0008548328535860933, 0.00012055386196614653,
                  -1.4926881565138638e-05, 1.6481060865647397e-06, -1.6557154746627726e-07,
                  1.601342533354741e-08, -1.646561246474885e-09, 1.4345215039391043e-10});
  MathValue near = multiplyAdd(size, odd, size);
  MathValue bounded = atMost(size, 5.93);
  MathValue complement = polynomial(
      bounded, {-2.7812708550239338e-08, -1.1283789156164281,     -0.6366207346681187,
                -0.10277081433315587,    0.01912804196174403,     0.000202308804442293,
                -0.001674969637819212,   0.000552363931875217,    2.2006710202193017e-05,
                -0.00011078351235923712, 6.476128975114128e-05,   -2.4280378439596048e-05,
                6.784190769416862e-06,   -1.4697148610688304e-06, 2.4814021352877014e-07,
                -3.2194747104789775e-08, 3.108164815921269e-09,   -2.1052362764403618e-10,
                8.928620864643393e-12,   -1.783819918650864e-13});
  MathValue far = 1 - scaledOnce(exponentialParts(complement));
  return copySign(select(size < 1, near, far), x);
}

} // namespace

MathValue errorFunction(MathValue x) {
  return isNarrow(x) ? errorFunction32(x) : errorFunction64(x);
}

} // namespace codegen::functions
