// Whether tensors are of the types that parameters declare, and what sizes they give to names.
#pragma once

#include "driver/values/builder.h"
#include "lang/calls/run_checks.h"
#include "lang/ir/typing.h"

#include <set>

namespace driver {

/// `%x`, or `x` in Baton's notation, for messages.
std::string parameterName(const lang::Var& parameter, lang::Notation notation);

/// The names of sizes in types.
std::vector<const lang::Dim*> namesOfSizes(std::vector<const lang::Type*> types);

class InputFit {
public:
  /// Messages speak `notation`.
  InputFit(const lang::Global& entry, const lang::Typing& typing, lang::Notation notation)
      : entry_(entry), parameters_(entry.function->parameters), typing_(typing),
        notation_(notation), matcher_(table_, sizes_) {}

  lang::Notation notation() const { return notation_; }
  std::string parameterName(const lang::Var& parameter) const {
    return driver::parameterName(parameter, notation_);
  }

  /// Takes `NAME=SIZE`.
  runtime::Result<runtime::Done> giveSize(std::string_view word);
  /// The tensor for a part of a parameter, converted to its element type where that is of the same
  /// kind; the error says why it does not fit.
  runtime::Result<runtime::Tensor> fit(size_t parameter, const ValueBuilder& part,
                                       runtime::Tensor tensor);
  /// What does not fit of sizes that were not known at once.
  std::optional<std::string> finish();

  /// The names of sizes in the types of the parameters.
  std::vector<const lang::Dim*> names() const;
  /// The size that is known of a dimension.
  std::optional<int64_t> sizeOf(const lang::Dim* dim);
  /// The only name without a size in a dimension; nothing if there are several.
  const lang::Dim* nameMissing(const lang::Dim* dim);
  /// Whether a name is in the types of the parameters, and not in fields of data types alone.
  bool isOfParameters(const lang::Dim* name) const { return findDim(lang::dimText(name)) == name; }
  /// Gives a size to a name that has none.
  void assume(const lang::Dim* name, int64_t size);

  /// What was done to tensors so that they fit.
  const std::vector<std::string>& notes() const { return notes_; }

private:
  /// A tensor of an input, and what it must be.
  struct Leaf {
    size_t parameter;
    const lang::Type* type;
    runtime::DType dtype;
    runtime::Shape shape;
  };

  const lang::Dim* findDim(std::string_view name) const;
  runtime::Result<runtime::Tensor> converted(size_t parameter, const ValueBuilder& part,
                                             const runtime::Tensor& tensor);
  std::string misfitOf(const Leaf& leaf, const ValueBuilder* part);

  const lang::Global& entry_;
  std::span<const lang::Var* const> parameters_;
  const lang::Typing& typing_;
  lang::Notation notation_;
  checks::SizeTable table_;
  lang::Declarations declarations_{table_};
  checks::KnownSizes sizes_;
  checks::ShapeMatcher matcher_;
  /// Those with names of sizes, which messages mention.
  std::vector<Leaf> leaves_;
  std::vector<std::string> notes_;
  std::set<std::string> noted_;
};

} // namespace driver
