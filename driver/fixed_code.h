// Parameters that become constants: values of inputs as code of a program.
#pragma once

#include "lang/ir/module.h"
#include "lang/op/declared.h"
#include "runtime/value.h"

#include <map>
#include <memory>
#include <optional>

namespace driver {

/// Values of parameters of a function, and sizes that names in the types of its parameters have.
struct FixedValues {
  std::string entry;
  /// Of each parameter its value, or nothing where it stays.
  std::vector<std::optional<runtime::Value>> values = {};
  std::map<std::string, int64_t> sizes = {};
};

/// Whether a value has too many parts to be code.
bool isTooLargeForCode(const runtime::Value& value);

/// A copy of a module in which the function takes the other parameters alone.
std::unique_ptr<lang::Module> withFixed(const lang::Module& module,
                                        const lang::OperatorTable& operators,
                                        const FixedValues& fixed);

} // namespace driver
