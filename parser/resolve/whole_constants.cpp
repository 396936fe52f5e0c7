// Constants of texts that are whole numbers: literals, and what is computed from others. Constants
// may go by each other in chains, of which only short ones are followed.
#include "parser/resolve/bare_forms.h"

namespace parser {

namespace {

/// More than people write.
constexpr int mostSteps = 32;

using Whole = std::optional<int64_t>;

class WholeNumbers {
public:
  Whole constant(const Unit& unit, std::string_view name, int depth) const {
    auto there = name.find('.') == std::string_view::npos
                     ? std::optional(ImportedName{const_cast<Unit*>(&unit), name})
                     : Definitions::imported(unit, name);
    if (!there || !there->unit)
      return std::nullopt;
    auto found = there->unit->constants.find(there->name);
    if (found == there->unit->constants.end() || !mayBeWhole(found->second->type))
      return std::nullopt;
    return value(*there->unit, found->second->value, depth + 1);
  }

private:
  static bool mayBeWhole(const surface::Type* type) {
    const auto* named = type ? surface::tryAs<surface::NamedType>(type) : nullptr;
    auto dtype = named && named->arguments.empty() ? namedDType(named->name) : std::nullopt;
    return !type || (dtype && dtype->isInteger());
  }

  Whole value(const Unit& unit, const surface::Expr* expr, int depth) const {
    if (depth > mostSteps)
      return std::nullopt;
    if (const auto* number = surface::tryAs<surface::IntLiteral>(expr))
      return number->value;
    if (const auto* name = surface::tryAs<surface::Name>(expr))
      return constant(unit, name->name, depth);
    if (const auto* field = surface::tryAs<surface::Field>(expr))
      return member(unit, *field, depth);
    const auto* infix = surface::tryAs<surface::Infix>(expr);
    Whole left = infix ? value(unit, infix->left, depth + 1) : std::nullopt;
    Whole right = left ? value(unit, infix->right, depth + 1) : std::nullopt;
    return right ? computed(infix->op, *left, *right) : std::nullopt;
  }

  Whole member(const Unit& unit, const surface::Field& field, int depth) const {
    const auto* root = surface::tryAs<surface::Name>(field.operand);
    return root ? constant(unit, fmt::format("{}.{}", root->name, field.name.text), depth)
                : std::nullopt;
  }

  static Whole computed(surface::InfixOp op, int64_t left, int64_t right) {
    int64_t result = 0;
    switch (op) {
    case surface::InfixOp::Add:
      return __builtin_add_overflow(left, right, &result) ? Whole() : result;
    case surface::InfixOp::Subtract:
      return __builtin_sub_overflow(left, right, &result) ? Whole() : result;
    case surface::InfixOp::Multiply:
      return __builtin_mul_overflow(left, right, &result) ? Whole() : result;
    case surface::InfixOp::Divide:
      return left >= 0 && right > 0 ? Whole(left / right) : Whole();
    default:
      return std::nullopt;
    }
  }
};

} // namespace

std::optional<int64_t> wholeConstant(const Unit& unit, std::string_view name) {
  return WholeNumbers().constant(unit, name, 0);
}

} // namespace parser
