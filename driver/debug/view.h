// What can be seen of a run that stands still: open calls, their variables, the text around.
#pragma once

#include "driver/debug/run_names.h"
#include "interp/observer.h"

namespace driver {

/// An open call, where it is now, and whether a binding is being evaluated there; else it has only
/// begun.
struct OpenCall {
  const interp::Activation* activation = nullptr;
  lang::SourceRange place;
  const lang::Binding* binding = nullptr;
  /// The innermost block in progress.
  const lang::Block* block = nullptr;
};

/// All open calls, innermost first.
std::vector<OpenCall> openCalls(const interp::State& state);

/// The innermost one of a run that goes on.
OpenCall innermostCall(const interp::State& state);

/// A variable that has a value. Of those in scope, the nearer ones have greater numbers; 0 is for
/// one whose block has ended.
struct Local {
  const lang::Var* var;
  const runtime::Value* value;
  size_t nearness;
};

/// The variables of a call that have values: its own, then those of functions around it.
std::vector<Local> localsOf(const interp::State& state, const OpenCall& call);

/// The line of a text in which a range begins, with its number and the range marked below.
std::string markedLine(const lang::SourceMap& sources, lang::SourceRange range);

/// Lines of a text with their numbers; `current` is marked.
std::string listedLines(const lang::SourceFile& file, uint32_t first, uint32_t last,
                        uint32_t current);

/// The part of a value that a path such as `.0[2, 3:5]` leads to: fields of tuples and
/// constructors, and rows of tensors, of which the last may be a range. The error says why there is
/// none.
runtime::Result<runtime::Value> partOf(const runtime::Value& value, std::string_view path);

} // namespace driver
