// A loop nest as a module of LLVM: a function for each part of it that runs one after the other.
//
// A part is called as `int32_t part(std::byte** buffers, const int64_t* sizes, int64_t begin,
// int64_t end)`: of a part whose outermost loop may run by threads, the iterations from `begin` to
// before `end`, of others 0 and 1. It gives 0, or 1 where something is a fault; what it has written
// by then is no result.
#pragma once

#include "codegen/llvm/processor.h"
#include "lower/loops/machine_model.h"
#include "lower/loops/nest.h"
#include "runtime/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codegen {

/// What code is written for.
struct TargetModel {
  /// Bytes of the widest registers that are used.
  uint32_t vectorBytes = 16;
  loops::WholeProducts wholeProducts = loops::WholeProducts::None;
  /// Its instructions on floats: those of F, VL and DQ.
  bool hasAvx512 = false;
  /// What the symbols of parts begin with, where they are called from, and what else is said of
  /// them, as LLVM writes it.
  std::string prefix = {}, linkage = {}, attributes = {};
};

TargetModel targetOf(const Processor& processor);

/// The functions that parts call.
inline constexpr std::string_view helperDeclarations =
    "declare double @baton_real(i32, i32, double, double)\n"
    "declare i64 @baton_whole(i32, i32, i64, i64, i64)\n\n";

struct Part {
  std::string symbol;
  /// How often its outermost loop runs, if that may run by threads.
  std::optional<loops::Form> iterations = {};
};

/// Scratch that the caller provides.
struct Workspace {
  uint32_t buffer;
  loops::Form elements;
  /// Whether threads need one each.
  bool isPrivate = false;
};

struct NestModule {
  /// With the forms of parts and scratch in its table.
  loops::Nest nest;
  /// Behind `helperDeclarations`, a module.
  std::string functions;
  std::string text() const { return std::string(helperDeclarations) + functions; }
  std::vector<Part> parts;
  /// Their pointers stand behind those of inputs and outputs, in this order.
  std::vector<Workspace> workspaces;
};

/// A module for a nest that verifies; or what of it is not compiled.
runtime::Checked<NestModule> moduleOf(const loops::Nest& nest, const TargetModel& target);

} // namespace codegen
