// What a loop stores of a buffer, in scratch first, an element an iteration, and copied from there
// behind the loop: so that it is computed in one order and stored in another.
#include "lower/loops/edit.h"
#include "lower/loops/read_form.h"
#include "lower/loops/rewrite.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops::rewrites {

namespace {

/// The only statement below that stores into a buffer, with the loops around it, outermost first.
struct Writer {
  Statement* statement = nullptr;
  std::vector<Loop> loops;
};

Writer onlyWriter(Nest& nest, Node& loop, uint32_t buffer) {
  Writer found;
  for (Node* next = &loop;;) {
    if (const auto* own = std::get_if<Loop>(&next->what))
      found.loops.push_back(*own);
    else
      found.statement = std::get_if<Statement>(&next->what);
    if (found.statement || next->body.size() != 1)
      break;
    next = &next->body[0];
  }
  Statement* statement = found.statement;
  if (!statement || statement->combiner || statement->stores.size() != 1 ||
      statement->stores[0].buffer != buffer)
    refuse(fmt::format("the loop does more than to store elements of `{}`",
                       nest.buffers[buffer].name));
  return found;
}

/// Loops like others, with variables of their own.
struct Copied {
  std::vector<Loop> loops;
  std::vector<Form> extents, from, to;
  std::map<Name, Form> names;
};

Copied loopsLike(Nest& nest, const std::vector<Loop>& loops) {
  Copied made;
  for (const Loop& loop : loops) {
    if (std::ranges::any_of(loops, [&](const Loop& other) {
          return nest.table.mentions(loop.end, other.variable);
        }))
      refuse(fmt::format("where `{}` ends hangs on others", nest.table.textOf(loop.variable)));
    Name variable = freshVariable(nest, nest.table.textOf(loop.variable) + "s");
    made.loops.push_back({variable, loop.end});
    made.extents.push_back(loop.end);
    made.from.push_back(variableForm(nest, loop.variable));
    made.to.push_back(variableForm(nest, variable));
    made.names.emplace(loop.variable, made.to.back());
  }
  return made;
}

/// A statement that copies an element of scratch, in loops.
Node copyOut(Nest& nest, uint32_t scratch, const Copied& made, uint32_t buffer,
             std::vector<Form> position) {
  for (Form& form : position)
    form = nest.table.replaced(form, made.names);
  Operation load{
      .kind = OperationKind::Load, .dtype = nest.buffers[buffer].dtype, .buffer = scratch};
  for (Form place : made.to)
    load.places.push_back({place});
  Statement copy;
  copy.operations.push_back(std::move(load));
  copy.stores.push_back({buffer, std::move(position), 0});
  Node node{std::move(copy)};
  for (size_t i = made.loops.size(); i-- > 0;) {
    std::vector<Node> body;
    body.push_back(std::move(node));
    node = Node{made.loops[i], std::move(body)};
  }
  return node;
}

} // namespace

void stage(Nest& nest, Arguments arguments) {
  auto buffer = findBuffer(nest, arguments[0]);
  if (!buffer)
    refuse(fmt::format("there is no buffer `{}`", arguments[0]));
  Spot spot = findLoop(nest, arguments[1]);
  Writer writer = onlyWriter(nest, spot.node(), *buffer);
  for (const Operation& operation : writer.statement->operations)
    if (operation.kind == OperationKind::Load && operation.buffer == *buffer)
      refuse(fmt::format("`{}` is read in the loop", arguments[0]));
  Copied made = loopsLike(nest, writer.loops);
  uint32_t scratch =
      freshBuffer(nest, arguments[0] + "s", nest.buffers[*buffer].dtype, made.extents);
  Store& store = writer.statement->stores[0];
  Node copy = copyOut(nest, scratch, made, *buffer, store.position);
  store = {scratch, made.from, store.value};
  spot.body->insert(spot.body->begin() + ptrdiff_t(spot.at) + 1, std::move(copy));
  spot.body->insert(spot.body->begin() + ptrdiff_t(spot.at), Node{Allocation{scratch}});
}

} // namespace loops::rewrites
