// Fusion: how many kernels programs become, what groups may not hold, and that tensor functions put
// together give what they give one after the other.
#include "checked_program.h"

#include <catch2/catch.hpp>
