// A panel is known by how it is read, whoever made it.
#include "lower/loops/choose_panels.h"

#include "lower/loops/edit.h"
#include "lower/loops/trial.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace loops {

namespace {

struct Panel {
  Name variable;
  int64_t size;
};

/// What is read as of a panel; nothing where it is read otherwise.
std::optional<Panel> panelOf(Nest& nest, const Operation& load) {
  const Buffer& buffer = nest.buffers[load.buffer];
  if (load.places.size() < 2 || buffer.space != Space::Input ||
      std::ranges::any_of(load.places, [](const Place& place) { return place.value != none; }))
    return std::nullopt;
  auto size = nest.table.constantOf(buffer.extents.back());
  std::vector<Name> names = nest.table.namesIn(load.places.back().form);
  if (!size || *size < 2 || names.size() != 1)
    return std::nullopt;
  Form variable = nest.table.name(names[0]), whole = nest.table.number(*size);
  Form panel = nest.table.quotient(variable, whole);
  bool isPanel = load.places.back().form == nest.table.rest(variable, whole) &&
                 std::ranges::count(load.places, panel, &Place::form) == 1;
  return isPanel ? std::optional(Panel{names[0], *size}) : std::nullopt;
}

/// Scratch that is a copy of panels and nothing else.
std::vector<std::string> copiesOfPanels(Nest& nest) {
  std::vector<std::string> found;
  forEachNode(nest.body, [&](Node& node) {
    const auto* statement = std::get_if<Statement>(&node.what);
    if (!statement || statement->combiner || statement->operations.size() != 1 ||
        statement->operations[0].kind != OperationKind::Load || statement->stores.size() != 1)
      return;
    const Buffer& target = nest.buffers[statement->stores[0].buffer];
    if (target.space == Space::Scratch && panelOf(nest, statement->operations[0]))
      found.push_back(target.name);
  });
  return found;
}

} // namespace

void readPanels(Scheduled& made) {
  for (const std::string& buffer : copiesOfPanels(made.nest))
    addVerified(made, "inline", {buffer});
}

void splitPanels(Scheduled& made) {
  std::set<std::pair<std::string, int64_t>> wanted;
  forEachNode(made.nest.body, [&](Node& node) {
    if (const auto* statement = std::get_if<Statement>(&node.what))
      for (const Operation& load : statement->operations)
        if (load.kind == OperationKind::Load)
          if (auto panel = panelOf(made.nest, load))
            wanted.emplace(made.nest.table.textOf(panel->variable), panel->size);
  });
  for (const auto& [loop, size] : wanted)
    addVerified(made, "split", {loop, fmt::format("{}", size)});
}

} // namespace loops
