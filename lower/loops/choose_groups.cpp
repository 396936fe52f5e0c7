// Which loop is cut into groups, and what is copied for that. Copies of operands in lanes are made
// later, for tiles, where these are apart anyway.
#include "lower/loops/choose_groups.h"

#include "lower/loops/edit.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace loops {

namespace {

/// The factors of a product of whole numbers, by their loads.
struct Factors {
  uint32_t first, second;
};

bool isByte(DType dtype) {
  return dtype == runtime::Int8 || dtype == runtime::UInt8;
}

/// Whether instructions take it, or it can be widened to what they take.
bool isShort(DType dtype) {
  return isByte(dtype) || dtype == runtime::Int16;
}

/// Whether it is a factor of 32 bits that was computed before.
bool isComputed(const Nest& nest, const Operation& load) {
  return load.kind == OperationKind::Load && load.dtype == runtime::Int32 &&
         nest.buffers[load.buffer].space == Space::Scratch;
}

/// The load that a factor is made of: converted, or also moved by a number.
std::optional<uint32_t> loadOf(const Statement& statement, uint32_t value) {
  const Operation* operation = &statement.operations[value];
  if (operation->kind == OperationKind::Apply && operation->function == ScalarFunction::Add &&
      statement.operations[operation->operands[1]].kind == OperationKind::Number)
    operation = &statement.operations[operation->operands[0]];
  if (operation->kind != OperationKind::Cast)
    return std::nullopt;
  uint32_t load = operation->operands[0];
  return statement.operations[load].kind == OperationKind::Load ? std::optional(load)
                                                                : std::nullopt;
}

std::optional<Factors> factorsIn(const Nest& nest, const Statement& joiner) {
  DType sum = nest.buffers[joiner.stores[0].buffer].dtype;
  const Operation& product = joiner.operations[joiner.stores[0].value];
  if (joiner.combiner != Combiner::Sum || sum != runtime::Int32 ||
      product.kind != OperationKind::Apply || product.function != ScalarFunction::Multiply ||
      product.dtype != runtime::Int32)
    return std::nullopt;
  auto first = loadOf(joiner, product.operands[0]), second = loadOf(joiner, product.operands[1]);
  bool isGood = first && second && *first != *second && isShort(joiner.operations[*first].dtype) &&
                isShort(joiner.operations[*second].dtype);
  return isGood ? std::optional(Factors{*first, *second}) : std::nullopt;
}

class Grouping {
public:
  Grouping(Trial& trial, Contraction& contraction, const MachineModel& machine)
      : trial_(trial), contraction_(contraction), machine_(machine) {}

  bool run() {
    inlineFactors();
    Nest& nest = trial_.nest();
    if (hasLess(joinerOf(nest, contraction_)) && !attempt("distribute", {contraction_.accumulator}))
      return false;
    const Statement joiner = joinerOf(nest, contraction_);
    auto factors = factorsIn(nest, joiner);
    auto rows = Reading(nest, contraction_).rows();
    if (!factors || !rows)
      return false;
    DType first = joiner.operations[factors->first].dtype,
          second = joiner.operations[factors->second].dtype;
    bool isOfBytes = isByte(first) && isByte(second);
    isQuad_ = isOfBytes && machine_.wholeProducts == WholeProducts::Quads;
    if (isQuad_ && first == second && !bias())
      return false;
    return cut() && copyApart();
  }

private:
  bool attempt(std::string_view rewrite, std::vector<std::string> arguments) {
    return trial_.attempt(rewrite, std::move(arguments));
  }
  int64_t size() const { return isQuad_ ? 4 : 2; }
  std::string sizeText() const { return fmt::format("{}", size()); }

  /// Takes factors that were computed before as what they were computed from.
  void inlineFactors() {
    std::set<std::string> computed;
    for (const Operation& load : joinerOf(trial_.nest(), contraction_).operations)
      if (isComputed(trial_.nest(), load))
        computed.insert(trial_.nest().buffers[load.buffer].name);
    for (const std::string& name : computed)
      attempt("inline", {name});
  }

  static bool hasLess(const Statement& joiner) {
    return std::ranges::any_of(joiner.operations, [](const Operation& operation) {
      return operation.kind == OperationKind::Apply &&
             operation.function == ScalarFunction::Subtract;
    });
  }

  /// Lanes read bytes of the other sign.
  bool bias() {
    Reading reading(trial_.nest(), contraction_);
    std::vector<Operand> ofLanes = reading.ofLanes();
    return ofLanes.size() == 1 &&
           attempt("bias", {contraction_.accumulator, reading.nameOf(ofLanes[0])});
  }

  /// Cuts the longest loop of the sum into groups, and puts these inside of all others.
  bool cut() {
    std::vector<std::string>& summed = contraction_.summed;
    auto countOf = [&](const std::string& loop) { return trial_.countOf(loop).value_or(0); };
    auto longest = std::ranges::max_element(summed, {}, countOf);
    int64_t count = countOf(*longest);
    if (count * 2 <= size() ||
        (count % size() != 0 && !attempt("round-up", {*longest, sizeText()})))
      return false;
    auto at = size_t(longest - summed.begin());
    if (!attempt("split", {*longest, sizeText()}) || trial_.fresh().empty())
      return false;
    std::string group = trial_.fresh().back();
    if (trial_.fresh().size() == 2)
      summed[at] = trial_.fresh()[0];
    else if (summed.size() > 1)
      summed.erase(summed.begin() + ptrdiff_t(at--));
    else
      return false;
    for (size_t next = at + 1; next < summed.size(); ++next)
      if (!attempt("reorder", {group, summed[next]}))
        return false;
    contraction_.group = group;
    return attempt("group", {group});
  }

  /// Copies what has no groups side by side, or has to be widened.
  bool copyApart() {
    Reading reading(trial_.nest(), contraction_);
    std::vector<std::string> apart;
    for (const Operand& operand : reading.operands())
      if (isCopied(reading, operand))
        apart.push_back(reading.nameOf(operand));
    return std::ranges::all_of(apart, [&](const std::string& name) { return copy(name); });
  }

  bool isCopied(Reading& reading, const Operand& operand) {
    DType dtype = trial_.nest().buffers[operand.buffer].dtype;
    int64_t bytes = int64_t(dtype.bytes());
    bool isTogether =
        !operand.hasOutside && reading.bytesAlong(operand, contraction_.group) == bytes;
    bool isOfLanes = std::ranges::any_of(
        reading.ofLanes(), [&](const Operand& each) { return each.buffer == operand.buffer; });
    if (!isOfLanes)
      return !isTogether || (!isQuad_ && dtype != runtime::Int16);
    // What lies apart in lanes, or is read once by each row, is lined up for tiles.
    bool isInLanes = reading.bytesAlong(operand, contraction_.spatial.back()) == bytes;
    return isInLanes && contraction_.summed.size() > 1;
  }

  bool copy(const std::string& name) {
    if (!attempt("pack", {name, contraction_.spatial.front()}))
      return false;
    Nest& nest = trial_.nest();
    auto made = uint32_t(nest.buffers.size() - 1);
    Reading reading(nest, contraction_);
    auto operand = std::ranges::find(reading.operands(), made, &Operand::buffer);
    if (operand == reading.operands().end())
      return false;
    int64_t bytes = int64_t(nest.buffers[made].dtype.bytes());
    return reading.bytesAlong(*operand, contraction_.group) == bytes || interleave(made);
  }

  /// The dimension of a copy that a group goes along.
  std::optional<size_t> dimensionOf(uint32_t buffer) {
    const Statement& joiner = joinerOf(trial_.nest(), contraction_);
    Name group = *trial_.nest().table.find(contraction_.group);
    for (const Operation& load : joiner.operations)
      for (size_t i = 0; load.buffer == buffer && i < load.places.size(); ++i)
        if (trial_.nest().table.mentions(load.places[i].form, group))
          return i;
    return std::nullopt;
  }

  /// The loops of a copy, by the dimensions that they fill; empty where there is one element.
  std::vector<std::string> loopsOf(uint32_t buffer) {
    std::vector<std::string> loops;
    forEachNode(std::as_const(trial_.nest().body), [&](const Node& node) {
      const auto* statement = std::get_if<Statement>(&node.what);
      if (!statement || statement->stores[0].buffer != buffer)
        return;
      for (Form position : statement->stores[0].position) {
        auto name = trial_.nest().table.nameOf(position);
        loops.push_back(name ? trial_.nest().table.textOf(*name) : "");
      }
    });
    return loops;
  }

  bool interleave(uint32_t buffer) {
    auto dimension = dimensionOf(buffer);
    if (!dimension)
      return false;
    std::vector<std::string> loops = loopsOf(buffer);
    const std::string name = trial_.nest().buffers[buffer].name;
    if (loops.size() <= *dimension || loops[*dimension].empty() ||
        !attempt("interleave", {name, fmt::format("{}", *dimension + 1), sizeText()}) ||
        !attempt("split", {loops[*dimension], sizeText()}) || trial_.fresh().empty())
      return false;
    std::string group = trial_.fresh().back(), last;
    for (size_t i = *dimension + 1; i < loops.size(); ++i)
      if (!loops[i].empty()) {
        if (!attempt("reorder", {group, loops[i]}))
          return false;
        last = loops[i];
      }
    return attempt("group", {group}) && (last.empty() || attempt("vector", {last}));
  }

  Trial& trial_;
  Contraction& contraction_;
  const MachineModel& machine_;
  bool isQuad_ = false;
};

} // namespace

bool mayGroup(Nest& nest, const Contraction& contraction, const MachineModel& machine) {
  if (machine.wholeProducts == WholeProducts::None || !contraction.isOfProducts ||
      !contraction.group.empty())
    return false;
  const Statement& joiner = joinerOf(nest, contraction);
  return std::ranges::all_of(joiner.operations, [&](const Operation& operation) {
    return operation.kind != OperationKind::Load || isShort(operation.dtype) ||
           isComputed(nest, operation);
  });
}

bool groupProducts(Trial& trial, Contraction& contraction, const MachineModel& machine) {
  return Grouping(trial, contraction, machine).run();
}

void keepFactors(Scheduled& made, const MachineModel& machine) {
  std::set<std::pair<std::string, std::string>> wanted;
  forEachNode(std::as_const(made.nest.body), [&](const Node& node) {
    const auto* loop = std::get_if<Loop>(&node.what);
    const auto* joiner = loop && loop->kind == RunKind::Grouped
                             ? std::get_if<Statement>(&node.body[0].what)
                             : nullptr;
    auto factors = joiner ? factorsIn(made.nest, *joiner) : std::nullopt;
    if (!factors)
      return;
    bool isQuad =
        made.nest.table.constantOf(loop->end) == 4 && machine.wholeProducts == WholeProducts::Quads;
    for (uint32_t load : {factors->first, factors->second}) {
      const Operation& operation = joiner->operations[load];
      auto isMoved = std::ranges::any_of(joiner->operations, [&](const Operation& each) {
        return each.kind == OperationKind::Apply && each.function == ScalarFunction::Add &&
               loadOf(*joiner, uint32_t(&each - joiner->operations.data())) == load;
      });
      const std::string& name = made.nest.buffers[operation.buffer].name;
      if (isQuad && isMoved)
        wanted.emplace(name, operation.dtype.isSigned() ? "uint8" : "int8");
      else if (!isQuad && operation.dtype != runtime::Int16)
        wanted.emplace(name, "int16");
    }
  });
  for (const auto& [name, type] : wanted)
    addVerified(made, "keep", {name, type});
}

} // namespace loops
