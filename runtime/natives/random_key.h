// States of the generator of random numbers, for who starts a program that draws some.
#pragma once

#include "runtime/tensor.h"

namespace natives {

/// A fresh state, the one that Relay makes of the seed.
runtime::Tensor randomKey(uint64_t seed);

} // namespace natives
