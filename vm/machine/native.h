// Native functions that code calls: all that the machine knows of them, so that a program which has
// them in a library of their own need not have it (vm/rt/natives_beside.cpp).
#pragma once

#include "vm/machine/heap.h"

namespace vm {

/// Looks for the functions that a program names; what is wrong where there is one missing.
std::optional<std::string> findNatives(Program& program);

/// What is wrong with a site and the function that it calls, which was found, or null. Where the
/// inputs are is right.
const char* nativeProblem(const Program& program, const HostSite& site);

/// Calls the native function of a site with its operands; a result that is a reference is owned.
/// Elements of operands that are given are written over where nobody else refers to them. At a
/// fault operands are what they were.
std::optional<runtime::Fault> callNative(const Program& program, const HostSite& site,
                                         std::span<const Slot> operands, Heap& heap, Slot& result);

} // namespace vm
