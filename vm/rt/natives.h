// What `libbaton_rt` and the library of native functions beside it know of each other. Both are of
// one build, so values of C++ go in and out; memory and objects are made by one of them alone,
// which is who opens the library.
#pragma once

#include "runtime/pool.h"
#include "vm/machine/native.h"

namespace rt {

/// Of this form of the functions, tensors, objects and programs.
inline constexpr uint32_t nativesVersion = 1;

struct NativeHost {
  uint32_t version = nativesVersion;
  decltype(&runtime::takeBlock) takeBlock = runtime::takeBlock;
  decltype(&runtime::giveBlock) giveBlock = runtime::giveBlock;
  decltype(&vm::Heap::box) box = &vm::Heap::box;
  decltype(&vm::Heap::make) make = &vm::Heap::make;
};

struct Natives {
  decltype(&vm::findNatives) find;
  decltype(&vm::nativeProblem) problem;
  decltype(&vm::callNative) call;
};

/// What the library exports as `baton_natives`; null for a host of another version, and for a
/// second one in the process.
using OpenNatives = const Natives* (*)(const NativeHost& host);

} // namespace rt
