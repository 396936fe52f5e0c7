// What a batch of generated programs draws from: data types, the prelude's functions, operator
// calls. It is made from a seed and shared by many programs, since making it takes about a second.
#pragma once

#include "tests/harness/reader.h"
#include "tests/harness/samples.h"

#include <optional>

namespace harness {

/// A function that programs may call: its name and its signature.
struct Callable {
  std::string name;
  std::vector<const lang::TypeParameter*> generics = {};
  std::vector<const lang::Type*> parameters;
  const lang::Type* result;
  /// The place of the parameter that bounds its recursion, if one does.
  std::optional<size_t> fuel = {};
  bool isPrelude = false;
  /// Sizes that the named dimensions must have at every call, when the body has bounds.
  Bindings sizes = {};
};

/// A data type: its definition, its text when it is no prelude type, and for each constructor how
/// deep the smallest value with it is.
struct DataType {
  const lang::TypeDefinition* definition;
  std::string text;
  std::vector<uint32_t> heights;
};

/// See the head of the file. It can not be copied, since everything points into it.
struct Universe {
  explicit Universe(uint64_t seed, bool namedDimensions);

  lang::TypeContext types;
  Reader reader{types};
  /// Holds the prelude and the generated data types.
  ReadText base;
  std::vector<DataType> dataTypes;
  std::vector<Callable> prelude;
  /// `A`, `B`, `C` for generic functions.
  lang::TypeParameter generics[3] = {{"A"}, {"B"}, {"C"}};
  /// `n` and `m`, or nothing when programs have no named dimensions.
  std::vector<const lang::Dim*> symbols;
  SamplePool samples;

  const DataType& dataType(const lang::TypeDefinition* definition) const;
};

} // namespace harness
