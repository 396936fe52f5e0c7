// Derivatives of globals that were called for and are still to be written: one for each global and
// each choice of the parameters that vary.
#pragma once

#include "lang/op/op.h"
#include "transform/differentiate/translation.h"

#include <deque>
#include <map>
#include <optional>

namespace transform {

class PendingDerivatives {
public:
  struct Item {
    const lang::Global* source;
    /// Which parameters have derivatives, and behind these, where there are any, to the sums of
    /// which the pull-back adds.
    std::vector<bool> mask;
    lang::Global* target;
    /// Where it was called for first.
    lang::SourceRange place;

    bool takesSum(size_t parameter) const {
      size_t count = source->function->parameters.size();
      return mask.size() > count && mask[count + parameter];
    }
  };

  /// `suffix` ends the names of the derivatives.
  explicit PendingDerivatives(std::string_view suffix) : suffix_(suffix) {}

  /// The derivative of a global, which is written later if it is new.
  const lang::Global* derivativeOf(Translation& code, const lang::Global& global,
                                   std::vector<bool> mask);
  /// The parameters of a global that vary in any of the calls that it makes of itself when those of
  /// the mask do: so that one derivative is enough for all of them.
  const std::vector<bool>& varied(const Translation& code, const lang::Global& global,
                                  const std::vector<bool>& mask);
  /// The next one to write.
  std::optional<Item> next();

private:
  using Call = std::pair<const lang::Global*, std::vector<bool>>;

  std::string_view suffix_;
  std::map<Call, lang::Global*> known_;
  std::map<Call, std::vector<bool>> varied_;
  std::deque<Item> items_;
};

/// Whether derivatives in a module are still to be written out.
bool hasUnwritten(const lang::Module& module);

/// The operator that stands for a derivative.
const lang::OperatorRow& rowOf(const lang::OperatorTable& operators, lang::Derivative derivative);

/// Whether the body of a global mentions it.
bool callsItself(const lang::Global& global);

/// Whether there are type parameters in a type.
bool holdsParameters(const lang::Type* type);

/// Whether type parameters are in the types of a function, which then has no derivative.
bool isGeneric(const lang::Function& function, const lang::Typing& typing);

} // namespace transform
