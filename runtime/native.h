// Native functions: what computes an operator that no tensor expression states, such as sorting.
//
// A native function sees tensors and its parameters, which were made of attributes and operand
// types of a call site once; it knows neither, so it serves who knows nothing of the language.
// Which element types and ranks it takes it says before; extents and data it looks at itself. What
// is wrong with them is a code with numbers, of which it finds nothing changed, and
// nativeFaultText() is the one place that has words for it. The functions are in runtime/natives/.
#pragma once

#include "runtime/result.h"
#include "runtime/tensor.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace runtime {

enum class NativeFaultCode : uint8_t {
  None,
#define NATIVE_FAULT(name, text) name,
#include "runtime/native_faults.def"
#undef NATIVE_FAULT
};

/// What is wrong, or nothing.
struct NativeFault {
  NativeFaultCode code = NativeFaultCode::None;
  std::array<int64_t, 4> numbers = {};

  explicit operator bool() const { return code != NativeFaultCode::None; }
};

/// One run: the tensors of the operands in order, and those of the result, which the function
/// appends. It may take an operand, and write where nobody else refers to its elements.
struct NativeCall {
  std::span<Tensor> inputs;
  std::vector<Tensor>& outputs;
};

/// What a function has to know beside its operands, as data, in an order of its own.
struct NativeParameters {
  std::vector<int64_t> numbers = {};
  std::vector<double> reals = {};
};

/// What is known of a tensor before there is one.
struct NativeType {
  DType dtype;
  size_t rank = 0;
};
using NativeTypes = std::span<const NativeType>;
/// Of results, or nothing where a function does not take such inputs or parameters.
using NativeResults = std::optional<std::vector<NativeType>>;

struct Native {
  /// By which executables name it.
  std::string_view name;
  NativeResults (*results)(NativeTypes inputs, const NativeParameters& parameters);
  /// The inputs are of types for which there are results, or stand for such
  /// (lower/tensor/engine.h).
  NativeFault (*run)(const NativeCall& call, const NativeParameters& parameters);
};

/// The fault in words.
std::string nativeFaultText(const NativeFault& fault);

} // namespace runtime
