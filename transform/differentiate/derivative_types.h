// Types of differentiated code, and what its values need: zeros and sums of values of any type.
//
// A cotangent has the type of its value, with `()` in place of functions and references, whose
// cotangents are kept aside (adjoint.h); what holds no floats is zero. Programs are given just
// that; between the functions of a derivative recursive data types may have zeros of their own
// (symbolic_zeros.h). In differentiated code a
// function gives its value and its pull-back, the function from the cotangent of the value to those
// of the arguments that hold floats; a reference whose content holds floats stands beside one to
// the cotangent of the content. All other values are themselves, so a type without functions and
// references is its own dual.
#pragma once

#include "lang/ir/builder.h"
#include "transform/analysis/global_names.h"
#include "transform/differentiate/symbolic_zeros.h"

#include <array>
#include <functional>
#include <map>
#include <unordered_map>

namespace transform {

/// Reverse: functions give pull-backs. Forward: they take tangents too, and give the tangent.
enum class Mode : uint8_t { Reverse, Forward };

/// What stands for a type: that of the value in differentiated code, that of its cotangent, and
/// that of its cotangent where programs see it.
enum class Form : uint8_t { Dual, Cotangent, Given };

class DerivativeTypes {
public:
  /// Without `zeros` all zeros are of the types of their values.
  DerivativeTypes(lang::Builder& builder, Mode ofFunctions, SymbolicZeros* zeros = nullptr)
      : make(builder), names(builder.module), mode_(ofFunctions), zeros_(zeros) {}

  /// Says that a variable of the code that is differentiated has the type.
  void see(const lang::Type* type);

  /// The type that a value has in differentiated code.
  const lang::Type* dual(const lang::Type* type) { return mapped(type, Form::Dual); }
  /// The type of its cotangent.
  const lang::Type* cotangent(const lang::Type* type) { return mapped(type, Form::Cotangent); }
  /// What stands for a type in that form.
  const lang::Type* mapped(const lang::Type* type, Form form);
  /// Whether cotangents of the type are not what programs see.
  bool isTranslated(const lang::Type* type);
  /// The type of the cotangents of those of `values` that hold floats: that of the only one, or a
  /// tuple.
  const lang::Type* pack(lang::Types values);
  /// What a function of these types gives in differentiated code; `given` are the values whose
  /// cotangents its pull-back gives, `sums` those of which it takes what they have gathered.
  const lang::Type* answer(const lang::Type* result, lang::Types given, lang::Types sums = {});

  /// What a function gives in forward mode.
  const lang::Type* withTangent(const lang::Type* result);

  /// The constructor of the dual of a data type, and of its cotangent.
  const lang::Constructor& dual(const lang::Constructor& constructor, const lang::Type* data) {
    return mapped(constructor, data, Form::Dual);
  }
  const lang::Constructor& cotangent(const lang::Constructor& constructor, const lang::Type* data) {
    return mapped(constructor, data, Form::Cotangent);
  }
  const lang::Constructor& mapped(const lang::Constructor& constructor, const lang::Type* data,
                                  Form form);
  /// The types of the fields of a constructor in a type with these arguments.
  std::vector<const lang::Type*> fields(const lang::Constructor& constructor,
                                        const lang::Type* data);

  /// Emits the zero cotangent of a value of that type, which is given in its dual form.
  lang::Atom zero(lang::BlockBuilder& out, lang::Atom value, const lang::Type* type,
                  Form form = Form::Cotangent);
  /// Emits the cotangent that is one in every float.
  lang::Atom one(lang::BlockBuilder& out, lang::Atom value, const lang::Type* type);
  /// Emits what programs see of the cotangent of a value, and a cotangent of what they give.
  lang::Atom given(lang::BlockBuilder& out, lang::Atom cotangent, lang::Atom value,
                   const lang::Type* type);
  lang::Atom taken(lang::BlockBuilder& out, lang::Atom given, const lang::Type* type);
  /// Emits the sum of two cotangents of a value of that type.
  lang::Atom sum(lang::BlockBuilder& out, lang::Atom left, lang::Atom right,
                 const lang::Type* type);

  /// Whether the zero cotangents of all values of a type are the same.
  bool hasOneZero(const lang::Type* type) const;
  /// Whether the cotangents of a data type have a constructor for zero.
  bool isSymbolic(const lang::Type* type) const;
  /// The fields of the cotangent of a value of a data type with a zero, for the values of those
  /// that are wanted; null where a value is.
  std::vector<lang::Atom> unfolded(lang::BlockBuilder& out, lang::Atom cotangent,
                                   const lang::Constructor& constructor, const lang::Type* data,
                                   const std::vector<lang::Atom>& values);
  /// Whether cotangents of the type are gathered field by field, as those of a tuple are.
  bool isRecord(const lang::Type* type) const;
  /// The fields of a record, with the constructor of its dual or of its cotangent, for the rest of
  /// the block.
  std::vector<lang::Atom> opened(lang::BlockBuilder& out, lang::Atom record,
                                 const lang::Constructor& constructor);

  lang::Builder& make;
  GlobalNames names;
  /// Binds the variables of a pattern for the rest of a block; without it nothing is a record.
  std::function<void(lang::BlockBuilder&, lang::Atom, const lang::Pattern*)> open;

private:
  using Known = std::unordered_map<const lang::Type*, const lang::Type*>;
  /// Functions for a data type, by the type of what they give.
  using Functions = std::map<std::pair<const lang::Type*, const lang::Type*>, const lang::Global*>;
  /// Binds what an arm gives for fields of a constructor.
  using ArmOfFields = std::function<lang::Atom(lang::BlockBuilder&, const lang::Constructor&,
                                               const std::vector<const lang::Var*>&)>;

  Known& known(Form form) { return known_[size_t(form)]; }
  const lang::Type* dualFunction(const lang::Type& function);
  const lang::Type* mappedData(const lang::Type* type, Form form);
  const lang::Type* ofOneType(const lang::Type* type, Form form);
  const lang::TypeDefinition& withZeros(const lang::TypeDefinition& definition);
  void makeConstructors(lang::TypeDefinition& definition, const lang::Type* data, Form form);
  const lang::Constructor& zeroOf(const lang::Type* data);
  const lang::Type* withoutSizes(const lang::Type* type);
  bool hasOpenData(const lang::Type* type);
  lang::Atom filled(lang::BlockBuilder& out, lang::Atom value, const lang::Type* type, bool isOne,
                    Form form);
  const lang::Global* filler(const lang::Type* data, bool isOne, Form form);
  const lang::Global* giver(const lang::Type* data);
  const lang::Global* taker(const lang::Type* data);
  const lang::Global* adder(const lang::Type* data);
  const lang::Match* byConstructor(lang::Atom scrutinee, const lang::Type* data, Form form,
                                   const ArmOfFields& arm);

  Mode mode_;
  SymbolicZeros* zeros_;
  /// The dual of a data type is a new one for each of its arguments. Where a size is no number, a
  /// value may go from one set of arguments to another, so then there is one for all sizes.
  bool isForAllSizes_ = false;
  std::array<Known, 3> known_;
  /// Generic data types of cotangents that lead to zeros.
  std::unordered_map<const lang::TypeDefinition*, const lang::TypeDefinition*> withZeros_;
  Functions fillZeros_, fillOnes_, givers_, takers_, adders_;
};

/// Parameters of these types for a function in the making.
inline std::vector<const lang::Var*> parametersFor(lang::Builder& make, lang::Types types) {
  std::vector<const lang::Var*> parameters;
  for (const lang::Type* type : types)
    parameters.push_back(make.var(lang::VarOrigin::Parameter, "x", type));
  return parameters;
}
/// Variables as operands.
inline std::vector<lang::Atom> atomsOf(const std::vector<const lang::Var*>& vars) {
  return {vars.begin(), vars.end()};
}

/// A pattern of new variables, one for each field of a constructor, which are appended to `vars`.
const lang::Pattern* fieldsPattern(lang::Builder& make, const lang::Constructor& constructor,
                                   std::vector<const lang::Var*>& vars);

} // namespace transform
