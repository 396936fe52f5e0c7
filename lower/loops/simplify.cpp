// Facts decide forms; what is left of values is tidied where that changes no bit of them.
#include "lower/loops/edit.h"
#include "lower/loops/names.h"
#include "runtime/scalar.h"

#include <algorithm>

namespace loops {

namespace {

/// Whether every value of one float type is one of the other.
bool holdsAll(DType wide, DType narrow) {
  return wide == narrow || (wide == runtime::Float64 && narrow.isFloat()) ||
         (wide == runtime::Float32 && narrow.isFloat() && narrow.bits < 32);
}

/// An operand in float32, if float64 holds nothing more of it there: a number may be added for it.
std::optional<uint32_t> asFloat32(std::vector<Operation>& made, uint32_t operand) {
  const Operation& of = made[operand];
  if (of.kind == OperationKind::Cast && made[of.operands[0]].dtype == runtime::Float32)
    return of.operands[0];
  if (of.kind != OperationKind::Number || runtime::rounded(runtime::Float32, of.real) != of.real)
    return std::nullopt;
  made.push_back({.kind = OperationKind::Number, .dtype = runtime::Float32, .real = of.real});
  return uint32_t(made.size() - 1);
}

/// One step of arithmetic on float32 in float64, rounded back, is that step in float32: twice as
/// many digits and two more round no further (Figueroa, When is double rounding innocuous?).
void narrowArithmetic(std::vector<Operation>& made, Operation& cast) {
  using enum ScalarFunction;
  const Operation step = made[cast.operands[0]];
  bool isArithmetic =
      step.kind == OperationKind::Apply &&
      (step.function == Add || step.function == Subtract || step.function == Multiply ||
       step.function == Divide || step.function == Sqrt);
  if (cast.dtype != runtime::Float32 || step.dtype != runtime::Float64 || !isArithmetic)
    return;
  Operation narrow{
      .kind = OperationKind::Apply, .dtype = runtime::Float32, .function = step.function};
  for (uint32_t operand : step.operands) {
    auto found = asFloat32(made, operand);
    if (!found)
      return;
    narrow.operands.push_back(*found);
  }
  cast = std::move(narrow);
}

/// What a conversion gives, if that is an operation that is there, or a number.
uint32_t simplerCast(const std::vector<Operation>& made, Operation& cast, uint32_t own) {
  const Operation& operand = made[cast.operands[0]];
  if (operand.kind == OperationKind::Number && operand.dtype.isFloat() && cast.dtype.isFloat()) {
    cast = {.kind = OperationKind::Number,
            .dtype = cast.dtype,
            .real = runtime::rounded(cast.dtype, operand.real)};
    return own;
  }
  if (operand.kind != OperationKind::Cast || !operand.dtype.isFloat())
    return own;
  uint32_t inner = operand.operands[0];
  return made[inner].dtype == cast.dtype && holdsAll(operand.dtype, cast.dtype) ? inner : own;
}

/// Gives a statement those of these operations that are needed.
void keepOperations(Statement& statement, std::vector<Operation> made,
                    const std::vector<uint8_t>& isNeeded) {
  std::vector<uint32_t> places(made.size());
  statement.operations.clear();
  for (size_t i = 0; i < made.size(); ++i) {
    if (!isNeeded[i])
      continue;
    renumber(made[i], places);
    places[i] = uint32_t(statement.operations.size());
    statement.operations.push_back(std::move(made[i]));
  }
  for (Store& store : statement.stores)
    store.value = places[store.value];
}

/// Takes away conversions there and back, and operations that nothing needs.
void simplifyValues(Statement& statement) {
  std::vector<Operation> made;
  std::vector<uint32_t> places;
  made.reserve(statement.operations.size());
  places.reserve(statement.operations.size());
  for (Operation& operation : statement.operations) {
    renumber(operation, places);
    if (operation.kind == OperationKind::Cast)
      narrowArithmetic(made, operation);
    auto own = uint32_t(made.size());
    uint32_t place =
        operation.kind == OperationKind::Cast ? simplerCast(made, operation, own) : own;
    if (place == own)
      made.push_back(std::move(operation));
    places.push_back(place);
  }
  for (Store& store : statement.stores)
    store.value = places[store.value];
  std::vector<uint8_t> isNeeded(made.size());
  for (const Store& store : statement.stores)
    isNeeded[store.value] = 1;
  for (size_t i = made.size(); i-- > 0;)
    if (isNeeded[i])
      forEachValue(made[i], [&](uint32_t value) { isNeeded[value] = 1; });
  keepOperations(statement, std::move(made), isNeeded);
}

class Simplifier {
public:
  explicit Simplifier(Nest& nest) : nest_(nest) {}

  void body(std::vector<Node>& nodes, const sizes::Facts& facts) {
    std::vector<Node> kept;
    for (Node& node : nodes)
      add(std::move(node), facts, kept);
    nodes = std::move(kept);
  }

private:
  void add(Node node, const sizes::Facts& facts, std::vector<Node>& kept) {
    auto change = [&](Form form) { return facts.simplified(form); };
    if (auto* loop = std::get_if<Loop>(&node.what)) {
      Form end = change(loop->end);
      ends_[loop->end] = end;
      loop->end = end;
      if (nest_.table.constantOf(loop->end) == 1) {
        replaceNames(nest_, node.body, {{loop->variable, nest_.table.number(0)}});
        return addAll(std::move(node.body), facts, kept);
      }
    } else if (auto* condition = std::get_if<Condition>(&node.what)) {
      *condition = {change(condition->left), change(condition->right)};
      sizes::Answer answer = facts.isLess(condition->left, condition->right);
      if (answer == sizes::Answer::No)
        return;
      if (answer == sizes::Answer::Yes)
        return addAll(std::move(node.body), facts, kept);
    } else if (auto* allocation = std::get_if<Allocation>(&node.what)) {
      for (Form& extent : nest_.buffers[allocation->buffer].extents)
        extent = change(extent);
    } else {
      auto& statement = std::get<Statement>(node.what);
      // An extent that is where a loop ends stays that.
      std::vector<Form> extents;
      for (const Reduced& axis : statement.reduced) {
        auto end = ends_.find(axis.extent);
        extents.push_back(end == ends_.end() ? axis.extent : end->second);
      }
      changeForms(statement, change);
      for (size_t i = 0; i < extents.size(); ++i)
        statement.reduced[i].extent = extents[i];
      checkNoMore(statement, facts);
      simplifyValues(statement);
    }
    sizes::Facts inside = facts;
    enter(inside, nest_.table, node);
    body(node.body, inside);
    kept.push_back(std::move(node));
  }

  void addAll(std::vector<Node> nodes, const sizes::Facts& facts, std::vector<Node>& kept) {
    for (Node& node : nodes)
      add(std::move(node), facts, kept);
  }

  void checkNoMore(Statement& statement, const sizes::Facts& facts) {
    for (Operation& load : statement.operations) {
      if (load.kind != OperationKind::Load)
        continue;
      bool isInside = true;
      for (size_t i = 0; i < load.places.size(); ++i) {
        Place& place = load.places[i];
        bool isOwn = place.value == none &&
                     facts.isInside(place.form, nest_.buffers[load.buffer].extents[i]);
        place.isChecked &= !isOwn;
        isInside &= isOwn;
      }
      if (isInside)
        load.operands.clear();
    }
  }

  Nest& nest_;
  /// What became of the ends of loops.
  std::map<Form, Form> ends_;
};

} // namespace

void simplify(Nest& nest) {
  Simplifier(nest).body(nest.body, factsOf(nest));
}

} // namespace loops
