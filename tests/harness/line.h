// A program along a straight line through its arguments.
//
// For `@main(%a, %n)`, where only `%a` holds floats, the module gets
//
//   def @line(%a, %n, %da, %t) { sin(@main(%a + %t * %da, %n)) }
//
// so that every derivative of `@main` along a direction is one with respect to the last parameter.
// Floats are float64 here and cast where `@main` wants other ones. Functions and references are
// left out of the result, as are fields without floats; the sine gives each float another weight,
// where a plain sum would hide that a softmax is wrong.
#pragma once

#include "lang/ir/module.h"
#include "runtime/value.h"
#include "tests/harness/random.h"
#include "transform/run_passes.h"

#include <optional>

namespace harness {

inline constexpr std::string_view lineName = "line";

/// The checked module with `@line` added; nothing where no float comes in or goes out.
std::optional<transform::TypedModule> withLine(const lang::Module& module,
                                               const lang::Typing& typing);

/// Arguments for `@line` but the last one, from those for `@main`: as many floats, random ones.
std::vector<runtime::Value> lineArguments(const std::vector<runtime::Value>& ofMain,
                                          Random& random);

} // namespace harness
