// Code of operator calls, by what makes two calls alike. What was not used for long is forgotten,
// so that a program may go through any number of shapes.
#pragma once

#include "lang/calls/open_call.h"
#include "runtime/recent.h"

namespace lang {

/// What the code of a call is for.
struct CodeKey {
  const OperatorRow* row;
  Attributes attributes;
  /// The types of the operands as numbers, and where the shapes of the results hang on values,
  /// those too.
  std::vector<int64_t> numbers = {};
  /// The call over open sizes, if the site has one: in which order a kernel adds up hangs on what
  /// is open.
  std::shared_ptr<const OpenCall> open = {};

  bool operator==(const CodeKey& other) const;
  size_t hash() const;
};

/// An operator call made ready to run.
struct CallCode {
  CodeKey key;
  /// The tensors that it takes.
  std::vector<std::pair<runtime::DType, runtime::Shape>> inputs = {};
  /// What the results are put together to, and where the type lives, when that is no module.
  const Type* output = nullptr;
  std::shared_ptr<TypeContext> types = {};
  /// The shapes of the results.
  std::vector<runtime::Shape> results = {};
  /// What computes it, where no native function does: a kernel, which is that of the call over open
  /// sizes where it can be, or code for more digits than elements have.
  std::shared_ptr<tensor::OwnedKernel> kernel = {};
  tensor::ExactCode exact = {};
  runtime::NativeParameters parameters = {};

  /// About how much memory it takes.
  size_t bytes() const;
};

using CodeCache = runtime::RecentlyUsed<const CallCode>;

} // namespace lang
