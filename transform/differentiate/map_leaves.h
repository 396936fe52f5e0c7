// Functions of scalars on the float leaves of values, written out.
//
// A leaf takes the place of the scalar parameter and the code of the function is put there, with
// the types that its operators give for the leaf. For each data type a function is made that goes
// through its values, and takes what the code captures as further arguments.
#pragma once

#include "transform/differentiate/derivative_types.h"
#include "transform/differentiate/leaf_code.h"

#include "lang/ir/typing.h"
#include "lang/ir/walk.h"
#include "lang/source/diagnostic.h"

#include <map>

namespace transform {

class LeafCalls {
public:
  LeafCalls(lang::Builder& builder, const lang::Typing& ofModule, lang::Diagnostics& sink);

  /// What stands for a call whose function is a literal or a global; null after a report.
  const lang::Expr* expand(const lang::Call& call, const lang::Expr& function);

private:
  /// A function that is applied to leaves.
  struct Use {
    const lang::Function* function;
    bool isSum;
    std::string_view name;
    lang::SourceRange range;
    std::vector<const lang::Var*> captured = {};
  };
  using Values = std::vector<lang::Atom>;

  const lang::Function* codeOf(const lang::Expr& function) const;
  /// What becomes of values of one type; null for a sum without leaves.
  lang::Atom each(lang::BlockBuilder& out, const Use& use, const Values& values,
                  const Values& captured, const lang::Type* type);
  /// The sum of results, some of which may be null, or what is made of them.
  lang::Atom gathered(lang::BlockBuilder& out, const Use& use, const Values& results,
                      const lang::Constructor* constructor);
  lang::Atom atLeaf(lang::BlockBuilder& out, const Use& use, const Values& values,
                    const Values& captured, const lang::Type* type);
  lang::Atom resultAtLeaf(lang::BlockBuilder& out, const Use& use, TypedAtom result,
                          lang::Atom leaf, const lang::Type* type);
  /// The function that goes through values of a data type.
  const lang::Global* walker(const Use& use, const lang::Type* data, size_t count);
  /// Matches the values behind those whose fields are known with that constructor, and goes on with
  /// the fields of all.
  const lang::Block* opened(const Use& use, const Values& values, const Values& captured,
                            const lang::Constructor& constructor, const lang::Type* data,
                            std::vector<std::vector<const lang::Var*>>& fields);

  lang::Diagnostic& report(const Use& use, const lang::Type* leaf, const lang::Words& problem);

  lang::Builder& make;
  const lang::Typing& typing_;
  lang::Diagnostics& findings_;
  DerivativeTypes types_;
  lang::FreeVariables free_;
  std::map<std::tuple<const lang::Function*, bool, const lang::Type*>, const lang::Global*>
      walkers_;
};

} // namespace transform
