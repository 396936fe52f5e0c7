// What Relay's text has no form for.
#include "runtime/short_names.h"
#include "tests/harness/notation_writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace harness {

using namespace lang;

namespace {

/// `[0, 1:, ..]`.
std::string subscriptsText(const Node& node, NodeId id, Spelling& spelling) {
  std::vector<std::string> subscripts;
  for (const Subscript& each : node.subscripts) {
    auto number = [](const std::optional<int64_t>& at) { return at ? std::to_string(*at) : ""; };
    if (each.kind == SubscriptKind::At)
      subscripts.push_back(std::to_string(each.position));
    else if (each.kind == SubscriptKind::New)
      subscripts.push_back("None");
    else
      subscripts.push_back(fmt::format("{}:{}{}", number(each.begin), number(each.end),
                                       each.step == 1 ? "" : fmt::format(":{}", each.step)));
  }
  auto isWhole = [&](size_t i) { return subscripts[i] == ":"; };
  size_t first = 0;
  while (first < subscripts.size() && !isWhole(first))
    ++first;
  size_t last = first;
  while (last < subscripts.size() && isWhole(last))
    ++last;
  bool hasRest = spelling.takes(Form::Rest, id, 40);
  if (hasRest) {
    subscripts.erase(subscripts.begin() + ptrdiff_t(first), subscripts.begin() + ptrdiff_t(last));
    subscripts.insert(subscripts.begin() + ptrdiff_t(first), "..");
  }
  while (!hasRest && subscripts.size() > 1 && subscripts.back() == ":" &&
         spelling.takes(Form::ShortIndex, id, 50))
    subscripts.pop_back();
  std::string text;
  for (const std::string& each : subscripts)
    text += (text.empty() ? "" : ", ") + each;
  return "[" + text + "]";
}

} // namespace

/// `size(x, 1)`, or the name of the size where the definition gives it one.
std::string NotationWriter::extent(const Node& node, NodeId id) {
  const Node& tensor = program_.node(node.parts[0]);
  auto isThis = [&](const Binder& parameter) { return parameter.name == tensor.text; };
  auto parameter = std::ranges::find_if(function_->parameters, isThis);
  if (parameter != function_->parameters.end() && parameter->isAnnotated &&
      types_.style == DimStyle::Named && parameter->type->shape.size() > node.index) {
    const Dim* dim = parameter->type->shape[node.index];
    if (dim->kind == DimKind::Symbol && spelling_.takes(Form::SizeName, id, 70))
      return std::string(dim->name);
  }
  return fmt::format("size({}, {})", expr(node.parts[0]), node.index);
}

/// `reshape(x, [b, 2 * n])`.
std::string NotationWriter::computedShape(const Node& node, NodeId id) {
  std::string extents;
  isInShape_ = true;
  for (size_t i = node.index; i < node.parts.size(); ++i)
    extents += (extents.empty() ? "" : ", ") + expr(node.parts[i]);
  isInShape_ = false;
  bool isOne = node.parts.size() - node.index == 1 &&
               program_.node(node.parts.back()).kind == NodeKind::Literal &&
               spelling_.takes(Form::ShortAttribute, id, 40);
  std::string shape = isOne ? extents : "[" + extents + "]";
  if (spelling_.takes(Form::NamedArgument, id, 25))
    shape = (node.text == "reshape" ? "newshape = " : "shape = ") + shape;
  std::string dtype = runtime::dtypeName(node.type->dtype);
  return node.index > 0 ? fmt::format("{}({}, {})", node.text, expr(node.parts[0]), shape)
                        : fmt::format("{}({}, dtype = \"{}\")", node.text, shape, dtype);
}

/// A call of a definition that gives the shape that a name wants.
std::string NotationWriter::wantedShape(const Node& node, NodeId id) {
  std::string names = node.type->shape.size() == 1 ? "d" : "d, e";
  std::string helper = fmt::format("wanted{}", node.type->shape.size());
  helpers_[helper] =
      fmt::format("def {}(value: f32) -> f32[{}] = full(value, [{}])\n", helper, names, names);
  return fmt::format("{{ let wanted{}of: {} = {}({}); wanted{}of }}", id, types_.type(node.type),
                     helper, expr(node.parts[0]), id);
}

std::string NotationWriter::ownForm(const Node& node, NodeId id) {
  switch (node.kind) {
  case NodeKind::Field:
    return fmt::format("{}.u{}", atom(node.parts[0]), node.index);
  case NodeKind::With:
    return fmt::format("({} with (u{} = {}))", atom(node.parts[0]), node.index,
                       expr(node.parts[1]));
  case NodeKind::Extent:
    return extent(node, id);
  case NodeKind::ComputedShape:
    return computedShape(node, id);
  case NodeKind::WantedShape:
    return wantedShape(node, id);
  default:
    return atom(node.parts[0]) + subscriptsText(node, id, spelling_);
  }
}

} // namespace harness
