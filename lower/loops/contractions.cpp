// A contraction is found as nests are built: nothing is looked for that somebody rewrote.
#include "lower/loops/contractions.h"

#include "lower/loops/edit.h"
#include "lower/loops/machine_model.h"
#include "lower/sizes/slope.h"

#include <algorithm>
#include <set>

namespace loops {

namespace {

/// Open extents that are proven to be below this are those that tiles leave over.
constexpr int64_t fewRows = 16;

std::string nameOf(const Nest& nest, const Node& node) {
  return nest.table.textOf(std::get<Loop>(node.what).variable);
}

/// Whether a statement reads two buffers at least, as products do.
bool readsTwo(const Statement& statement) {
  std::set<uint32_t> buffers;
  for (const Operation& operation : statement.operations)
    if (operation.kind == OperationKind::Load)
      buffers.insert(operation.buffer);
  return buffers.size() > 1;
}

bool joinsInAnyOrder(const Statement& statement) {
  return statement.combiner == Combiner::Sum || statement.combiner == Combiner::Maximum ||
         statement.combiner == Combiner::Minimum;
}

/// The contraction whose accumulator is in the body of the last of these loops.
std::optional<Contraction> contractionIn(const Nest& nest, const std::vector<const Node*>& path) {
  const std::vector<Node>& body = path.back()->body;
  auto isStatement = [](const Node& node) { return std::holds_alternative<Statement>(node.what); };
  if (body.size() < 4 || !std::holds_alternative<Allocation>(body[0].what) ||
      !isStatement(body[1]) || !std::holds_alternative<Loop>(body[2].what) ||
      !std::all_of(body.begin() + 3, body.end(), isStatement))
    return std::nullopt;
  uint32_t accumulator = std::get<Allocation>(body[0].what).buffer;
  const Statement* joiner = joinerIn(body[2]);
  if (!joiner || !joinsInAnyOrder(*joiner) || joiner->stores[0].buffer != accumulator ||
      !nest.buffers[accumulator].extents.empty())
    return std::nullopt;
  bool isOfProducts = joiner->combiner == Combiner::Sum && readsTwo(*joiner);
  Contraction found{{}, {}, nest.buffers[accumulator].name, {}, isOfProducts};
  for (size_t i = path.size(); i-- > 0;) {
    if (i + 1 < path.size() && path[i]->body.size() != 1)
      break;
    found.spatial.insert(found.spatial.begin(), nameOf(nest, *path[i]));
  }
  for (const Node* next = &body[2]; const auto* loop = std::get_if<Loop>(&next->what);
       next = &next->body[0])
    if (loop->kind == RunKind::Grouped)
      found.group = nameOf(nest, *next);
    else
      found.summed.push_back(nameOf(nest, *next));
  return found;
}

void findContractions(const Nest& nest, std::span<const Node> body, std::vector<const Node*>& path,
                      std::vector<Contraction>& found) {
  for (const Node& node : body) {
    if (!std::holds_alternative<Loop>(node.what))
      continue;
    path.push_back(&node);
    if (auto contraction = contractionIn(nest, path))
      found.push_back(*std::move(contraction));
    else
      findContractions(nest, node.body, path, found);
    path.pop_back();
  }
}

} // namespace

const Statement* joinerIn(const Node& sum) {
  const Node* next = &sum;
  while (std::holds_alternative<Loop>(next->what) && next->body.size() == 1)
    next = &next->body[0];
  return std::get_if<Statement>(&next->what);
}

const Statement& joinerOf(Nest& nest, const Contraction& contraction) {
  return *joinerIn(findLoop(nest, contraction.spatial.back()).node().body[2]);
}

std::vector<Contraction> contractionsIn(const Nest& nest, std::span<const Node> body) {
  std::vector<Contraction> found;
  std::vector<const Node*> path;
  findContractions(nest, body, path, found);
  return found;
}

Reading::Reading(Nest& nest, const Contraction& of) : nest_(nest), of_(of) {
  for (const Operation& operation : joinerOf(nest_, of).operations)
    if (operation.kind == OperationKind::Load)
      read(operation);
}

int64_t Reading::extentOf(const std::string& loop) {
  Spot spot = findLoop(nest_, loop);
  Form end = spot.loop().end;
  if (auto count = nest_.table.constantOf(end))
    return *count;
  bool isFew = spot.facts.isLess(end, nest_.table.number(fewRows)) == sizes::Answer::Yes;
  return isFew ? 1 : openExtent;
}

int64_t Reading::productsOfSum() {
  constexpr int64_t many = 1 << 24;
  int64_t products = 1;
  for (const std::string& loop : of_.summed)
    products = std::clamp<int64_t>(std::min(extentOf(loop), many) * products, 1, many);
  return products;
}

std::optional<std::string> Reading::rows() {
  std::optional<std::string> best;
  for (size_t i = 0; i + 1 < of_.spatial.size(); ++i) {
    const std::string& loop = of_.spatial[i];
    bool isShared = std::ranges::any_of(operands_, [&](const Operand& operand) {
      return isOfLanes(operand) && !hangsOn(operand, loop);
    });
    if (isShared && extentOf(loop) > 1 && (!best || extentOf(loop) >= extentOf(*best)))
      best = loop;
  }
  return best;
}

std::vector<std::string> Reading::moreColumns(const std::string& rows) const {
  std::vector<std::string> found;
  for (const std::string& loop : of_.spatial)
    if (loop != rows && loop != of_.spatial.back() &&
        std::ranges::all_of(operands_, [&](const Operand& operand) {
          return isOfLanes(operand) == hangsOn(operand, loop);
        }))
      found.push_back(loop);
  return found;
}

std::vector<Operand> Reading::ofLanes() const {
  std::vector<Operand> found;
  std::ranges::copy_if(operands_, std::back_inserter(found),
                       [&](const Operand& operand) { return isOfLanes(operand); });
  return found;
}

bool Reading::isApartAlong(const Operand& operand, const std::string& loop) {
  if (of_.group.empty() || !hangsOn(operand, of_.group))
    return bytesAlong(operand, loop) != bytesOf(operand);
  return bytesAlong(operand, of_.group) != bytesOf(operand) ||
         bytesAlong(operand, loop) != bytesOf(operand) * extentOf(of_.group);
}

std::optional<int64_t> Reading::bytesAlong(const Operand& operand, const std::string& loop) {
  auto slope = sizes::slopeOf(nest_.table, operand.flat, variableOf(loop));
  auto number = slope ? nest_.table.constantOf(*slope) : std::nullopt;
  return number ? std::optional(*number * bytesOf(operand)) : std::nullopt;
}

void Reading::read(const Operation& load) {
  std::vector<Form> forms;
  for (const Place& place : load.places) {
    isPlain_ &= place.value == none;
    forms.push_back(place.form);
  }
  Form flat = flatOf(nest_, nest_.buffers[load.buffer].extents, forms);
  operands_.push_back({load.buffer, flat, !load.operands.empty()});
}

} // namespace loops
