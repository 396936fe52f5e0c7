// Calls: operators as they are written, and arguments.
#include "lang/ir/numbers_meant.h"
#include "parser/restore/pieces.h"

#include <algorithm>

namespace parser::restoring {

namespace {

/// How wide the callee and attributes of a call count at most beside its operands.
constexpr uint32_t mostBesideOperands = 36;

constexpr std::pair<std::string_view, surface::InfixOp> infixOps[] = {
    {"*", surface::InfixOp::Multiply},  {"/", surface::InfixOp::Divide},
    {"+", surface::InfixOp::Add},       {"-", surface::InfixOp::Subtract},
    {"<", surface::InfixOp::Less},      {"<=", surface::InfixOp::LessEqual},
    {">", surface::InfixOp::Greater},   {">=", surface::InfixOp::GreaterEqual},
    {"==", surface::InfixOp::Equal},    {"!=", surface::InfixOp::NotEqual},
    {"%", surface::InfixOp::Remainder}, {"@", surface::InfixOp::MatrixProduct},
    {"**", surface::InfixOp::Power}};

/// Whether an operand is known to be of floats, or of other elements.
bool isOf(const lang::Typing* typing, bool floats, const lang::Operand& operand) {
  const auto* constant = operand.value->as<lang::Constant>();
  const lang::Type* type = constant ? constant->type
                           : typing ? typing->of(*operand.value)
                                    : nullptr;
  return type && type->isTensor() && type->dtype.isFloat() == floats;
}

bool isNumber(const surface::Expr* expr) {
  using enum surface::ExprKind;
  return expr->kind == IntLiteral || expr->kind == FloatLiteral || expr->kind == BoolLiteral;
}

} // namespace

Piece PieceMaker::callOf(Piece callee, const std::vector<Piece>& operands,
                         std::span<const surface::Attribute> attributes) {
  auto* made = make<surface::Call>();
  std::vector<const surface::Expr*> arguments;
  uint32_t width = callee.width + 2;
  for (const Piece& operand : operands) {
    arguments.push_back(operand.expr);
    width += operand.width + 2;
  }
  for (const surface::Attribute& attribute : attributes)
    width += uint32_t(attribute.key.text.size()) + 5 + widthOf(attribute.value.expr);
  made->callee = callee.expr;
  made->arguments = arena_.copy(arguments);
  made->attributes = arena_.copy(attributes);
  return {made, width};
}

/// Whether the operator takes operands of one element type, as `+` does.
bool PieceMaker::takesEqualTypes(const lang::OperatorRow& row) const {
  const lang::OperatorRow* sum = shared_.operators.findInfix("+");
  return !row.infix.empty() || (sum && row.relation == sum->relation);
}

/// What the other arguments make of a number without a type. One of another element type might give
/// it that. `row` is null for calls of what is no operator as it is written.
NumberType PieceMaker::typeBy(const lang::Call& call, const lang::OperatorRow* row,
                              const lang::Constant& constant) {
  bool meansReals = row && lang::meansReals(*row, call.arguments);
  NumberType found =
      meansReals && !constant.type->dtype.isFloat() ? NumberType::Unknown : NumberType::Default;
  for (const lang::Operand& argument : call.arguments) {
    const lang::Expr& atom = *vars_.resolve(argument.value);
    const auto* other = atom.as<lang::Constant>();
    const lang::Type* type = other            ? other->type
                             : shared_.typing ? shared_.typing->of(*argument.value)
                                              : nullptr;
    if (!type || !type->isTensor())
      continue;
    if (type->dtype != constant.type->dtype)
      return NumberType::Unknown;
    if (!other && row && takesEqualTypes(*row))
      found = NumberType::Told;
  }
  return found;
}

/// Where a tuple of tensors is taken, brackets serve.
Piece PieceMaker::inBrackets(Piece tuple) {
  const auto* fields = surface::tryAs<surface::Tuple>(tuple.expr);
  if (!fields || fields->fields.empty())
    return tuple;
  auto* made = make<surface::TensorLiteral>();
  made->elements = fields->fields;
  tuple.expr = made;
  return tuple;
}

std::vector<Piece> PieceMaker::callOperands(const lang::Call& call, const lang::OperatorRow* row,
                                            uint32_t more) {
  const lang::Expr& callee = *call.callee.value;
  bool asksNumbers = !callee.as<lang::Global>() && !callee.as<lang::Constructor>();
  std::vector<Piece> pieces;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const lang::Expr& argument = *vars_.resolve(call.arguments[i].value);
    const auto* constant = argument.as<lang::Constant>();
    pieces.push_back(constant && asksNumbers
                         ? this->constant(*constant, typeBy(call, row, *constant))
                         : operand(argument));
  }
  shorten(pieces, more);
  for (size_t i = 0; row && !row->operands.empty() && i < pieces.size(); ++i)
    if (row->operand(i).kind == lang::OperandKind::TensorTuple && pieces[i].var)
      pieces[i] = inBrackets(pieces[i]);
  return pieces;
}

Piece PieceMaker::call(const lang::Call& call) {
  if (const auto* op = call.callee.value->as<lang::OperatorRef>(); op && call.attributes)
    return operatorCall(call, *op->row);
  const auto* constructor = call.callee.value->as<lang::Constructor>();
  if (constructor && constructor->fields.empty() && call.arguments.empty())
    return operand(*constructor);
  Piece callee = single(call.callee, 0);
  using enum surface::ExprKind;
  bool isChain =
      callee.expr->kind == Call || callee.expr->kind == Project || callee.expr->kind == Field;
  if (callee.var && !isChain)
    callee = named(*callee.var, callee);
  std::vector<Piece> pieces = callOperands(call, nullptr, callee.width);
  return callOf(callee, pieces, namedAttributes(call.named));
}

Piece PieceMaker::operatorCall(const lang::Call& call, const lang::OperatorRow& row) {
  if (auto form = operatorForm(call, row))
    return *form;
  Attributes attributes = attributesOf(row, *call.attributes);
  Piece callee = operand(*call.callee.value);
  uint32_t more = callOf(callee, attributes.positional, attributes.named).width;
  std::vector<Piece> pieces = callOperands(call, &row, std::min(more, mostBesideOperands));
  pieces.insert(pieces.end(), attributes.positional.begin(), attributes.positional.end());
  return callOf(callee, pieces, attributes.named);
}

/// What operators are written like, where they are not by name.
std::optional<Piece> PieceMaker::operatorForm(const lang::Call& call,
                                              const lang::OperatorRow& row) {
  if (!hasDefaults(shared_.operators, row, *call.attributes))
    return std::nullopt;
  if (call.arguments.size() == 2)
    return infixForm(call, row);
  bool isPrefix = row.role == lang::Role::Negate || row.role == lang::Role::Not;
  if (call.arguments.size() != 1 || (!isPrefix && row.role != lang::Role::MatrixTranspose))
    return std::nullopt;
  Piece operand = single(call.arguments[0], 2);
  if (isNumber(operand.expr))
    return callOf(this->operand(*call.callee.value), {operand}, {});
  if (!isPrefix) {
    auto* made = make<surface::Field>();
    made->operand = operand.expr;
    made->name = {"T", {}};
    return Piece{made, operand.width + 2};
  }
  auto* made = make<surface::Prefix>();
  made->op = row.role == lang::Role::Not ? surface::PrefixOp::Not : surface::PrefixOp::Negate;
  made->operand = operand.expr;
  return Piece{made, operand.width + 1};
}

/// How a call is written between its operands, as `/` rounds quotients of integers down.
std::optional<Piece> PieceMaker::infixForm(const lang::Call& call, const lang::OperatorRow& row) {
  bool isFloor = row.role == lang::Role::FloorDivide;
  std::string_view symbol = isFloor ? "/" : row.infix;
  if (symbol == "/" && !isOf(shared_.typing, !isFloor, call.arguments[0]))
    return std::nullopt;
  auto op =
      std::ranges::find(infixOps, symbol, &std::pair<std::string_view, surface::InfixOp>::first);
  if (op == std::end(infixOps))
    return std::nullopt;
  std::vector<Piece> pieces = callOperands(call, &row, 3);
  auto* made = make<surface::Infix>();
  made->op = op->second;
  made->left = pieces[0].expr;
  made->right = pieces[1].expr;
  return Piece{made, pieces[0].width + pieces[1].width + 3};
}

} // namespace parser::restoring
