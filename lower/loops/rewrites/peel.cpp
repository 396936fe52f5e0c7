// A loop as two, the second with what is left. What facts then decide in the first goes away.
#include "lower/loops/edit.h"
#include "lower/loops/read_form.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

namespace {

/// The form of an argument, over sizes and the loops around.
Form formArgument(Nest& nest, const Spot& spot, const std::string& argument) {
  std::vector<Name> names;
  for (const Assumption& size : nest.sizes)
    names.push_back(size.size);
  for (Name name : spot.facts.loops())
    names.push_back(name);
  try {
    std::vector<Line> lines = linesOf(argument);
    if (lines.size() != 1)
      refuse("there is no form");
    Cursor line(lines[0]);
    Form form = readForm(line, nest.table, names);
    line.end();
    return form;
  } catch (const Unreadable& unreadable) {
    refuse(fmt::format("`{}` is no form: {}", argument, unreadable.problem));
  }
}

} // namespace

void peel(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[0]);
  sizes::Table& table = nest.table;
  Form count = formArgument(nest, spot, arguments[1]);
  Loop loop = spot.loop();
  if (!spot.facts.proves(count, table.number(0)) || !spot.facts.proves(loop.end, count))
    refuse(fmt::format("`{}` is not proven to lie from 0 to `{}`", arguments[1],
                       table.text(loop.end)));
  std::vector<Node> copies = copyOf(nest, {spot.node()});
  Node rest = std::move(copies[0]);
  Loop& own = std::get<Loop>(rest.what);
  own.end = table.sum(own.end, count, -1);
  replaceNames(nest, rest.body,
               {{own.variable, table.sum(variableForm(nest, own.variable), count)}});
  spot.loop().end = count;
  spot.body->insert(spot.body->begin() + ptrdiff_t(spot.at) + 1, std::move(rest));
}

} // namespace loops::rewrites
