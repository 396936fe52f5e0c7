// Code for processors with wide registers, beside code for all of them. It gives the same results:
// products are rounded before they are added.
#pragma once

#if defined(__x86_64__)
/// Before a function: made for wide registers. What it calls is to be inlined.
#define BATON_WIDE __attribute__((target("avx2")))
#else
#define BATON_WIDE
#endif

namespace lower {

/// Whether the processor, and the system, have them; found out once.
bool hasWideRegisters();

} // namespace lower
