// Types of differentiated code, and what its values need: zeros and sums of values of any type.
//
// A cotangent has the type of its value, with `()` in place of functions and references, whose
// cotangents are kept aside (adjoint.h); what holds no floats is zero. In differentiated code a
// function gives its value and its pull-back, the function from the cotangent of the value to those
// of the arguments that hold floats; a reference whose content holds floats stands beside one to
// the cotangent of the content. All other values are themselves, so a type without functions and
// references is its own dual.
#pragma once

#include "lang/builder.h"

#include <functional>
#include <map>
#include <unordered_map>

namespace transform {

/// Reverse: functions give pull-backs. Forward: they take tangents too, and give the tangent.
enum class Mode : uint8_t { Reverse, Forward };

class DerivativeTypes {
public:
  DerivativeTypes(lang::Builder& builder, Mode ofFunctions) : make(builder), mode_(ofFunctions) {}

  /// Says that a variable of the code that is differentiated has the type.
  void see(const lang::Type* type);

  /// The type that a value has in differentiated code.
  const lang::Type* dual(const lang::Type* type) { return mapped(type, duals_, true); }
  /// The type of its cotangent.
  const lang::Type* cotangent(const lang::Type* type) { return mapped(type, cotangents_, false); }
  /// The type of the cotangents of those of `values` that hold floats: that of the only one, or a
  /// tuple.
  const lang::Type* pack(lang::Types values);
  /// What a function of these types gives in differentiated code; `given` are the values whose
  /// cotangents its pull-back gives.
  const lang::Type* answer(const lang::Type* result, lang::Types given);

  /// What a function gives in forward mode.
  const lang::Type* withTangent(const lang::Type* result);

  /// The constructor of the dual of a data type, and of its cotangent.
  const lang::Constructor& dual(const lang::Constructor& constructor, const lang::Type* data);
  const lang::Constructor& cotangent(const lang::Constructor& constructor, const lang::Type* data);
  /// The types of the fields of a constructor in a type with these arguments.
  std::vector<const lang::Type*> fields(const lang::Constructor& constructor,
                                        const lang::Type* data);

  /// Emits the zero cotangent of a value of that type, which is given in its dual form.
  lang::Atom zero(lang::BlockBuilder& out, lang::Atom value, const lang::Type* type);
  /// Emits the cotangent that is one in every float.
  lang::Atom one(lang::BlockBuilder& out, lang::Atom value, const lang::Type* type);
  /// Emits the sum of two cotangents of a value of that type.
  lang::Atom sum(lang::BlockBuilder& out, lang::Atom left, lang::Atom right,
                 const lang::Type* type);

  /// Whether cotangents of the type are gathered field by field, as those of a tuple are.
  bool isRecord(const lang::Type* type) const;
  /// The fields of a record, with the constructor of its dual or of its cotangent, for the rest of
  /// the block.
  std::vector<lang::Atom> opened(lang::BlockBuilder& out, lang::Atom record,
                                 const lang::Constructor& constructor);

  lang::Builder& make;
  /// Binds the variables of a pattern for the rest of a block; without it nothing is a record.
  std::function<void(lang::BlockBuilder&, lang::Atom, const lang::Pattern*)> open;

private:
  const lang::Type* dualFunction(const lang::Type& function);
  using Known = std::unordered_map<const lang::Type*, const lang::Type*>;
  using Fillers = std::unordered_map<const lang::Type*, const lang::Global*>;

  const lang::Type* mapped(const lang::Type* type, Known& known, bool isDual);
  const lang::Type* mappedData(const lang::Type* type, Known& known, bool isDual);
  const lang::Type* instantiated(const lang::Type* type, const lang::Type* data);
  const lang::Type* withoutSizes(const lang::Type* type);
  bool hasOpenData(const lang::Type* type);
  const lang::Constructor& mappedConstructor(const lang::Constructor& constructor,
                                             const lang::Type* data, const lang::Type* image);
  lang::Atom filled(lang::BlockBuilder& out, lang::Atom value, const lang::Type* type, bool isOne);
  const lang::Global* filler(const lang::Type* data, bool isOne);
  const lang::Global* adder(const lang::Type* data);

  Mode mode_;
  /// The dual of a data type is a new one for each of its arguments. Where a size is no number, a
  /// value may go from one set of arguments to another, so then there is one for all sizes.
  bool isForAllSizes_ = false;
  Known duals_, cotangents_;
  Fillers zeros_, ones_, adders_;
};

/// A pattern of new variables, one for each field of a constructor, which are appended to `vars`.
const lang::Pattern* fieldsPattern(lang::Builder& make, const lang::Constructor& constructor,
                                   std::vector<const lang::Var*>& vars);

/// A name that no global of the module has: `stem`, or with a number behind it.
std::string freshGlobalName(const lang::Module& module, std::string_view stem);

} // namespace transform
