// Names that a form needs hang on its node, so that no two are the same.
#include "tests/harness/plain_forms.h"

#include <algorithm>
#include <fmt/format.h>

namespace harness {

using namespace lang;

namespace {

/// `match (p) { K(_, %x, _) => { %x } }`.
std::string fieldText(const Node& node, NodeId id, const std::string& record) {
  std::string parts;
  for (size_t i = 0; i < node.patterns[0].parts.size(); ++i)
    parts += (i == 0 ? "" : ", ") + (i == node.index ? fmt::format("%field{}", id) : "_");
  return fmt::format("(match ({}) {{ {}({}) => {{ %field{} }}, }})", record,
                     node.patterns[0].constructor, parts, id);
}

/// `match (p) { K(%a, _) => { K(%a, value) } }`.
std::string copyText(const Node& node, NodeId id, const std::string& record,
                     const std::string& value) {
  std::string parts, fields;
  for (size_t i = 0; i < node.patterns[0].parts.size(); ++i) {
    std::string name = i == node.index ? "_" : fmt::format("%field{}of{}", i, id);
    parts += (i == 0 ? "" : ", ") + name;
    fields += (i == 0 ? "" : ", ") + (i == node.index ? fmt::format("%with{}", id) : name);
  }
  return fmt::format("(match ({}) {{ {}({}) => {{ let %with{} = {}; {}({}) }}, }})", record,
                     node.patterns[0].constructor, parts, id, value, node.patterns[0].constructor,
                     fields);
}

std::string numbers(Dims shape) {
  std::string text;
  for (const Dim* dim : shape)
    text += (text.empty() ? "" : ", ") + dimText(dim);
  return "[" + text + "]";
}

/// With numbers an attribute has the shape; with names a tensor has it, and a type says what is
/// known.
std::string shapeText(const Node& node, NodeId id, const std::vector<std::string>& parts) {
  bool isNamed =
      !std::ranges::all_of(node.type->shape, [](const Dim* dim) { return dim->isConstant(); });
  std::string data = node.index > 0 ? parts[0] + ", " : "";
  std::string dtype =
      node.index > 0 ? "" : fmt::format(", dtype=\"{}\"", runtime::dtypeName(node.type->dtype));
  std::string_view attribute = node.text == "reshape" ? "newshape" : "shape";
  if (!isNamed)
    return fmt::format("{}({}{}={}{})", node.text, data, attribute, numbers(node.type->shape),
                       dtype);
  std::string extents;
  for (size_t i = node.index; i < parts.size(); ++i)
    extents += (extents.empty() ? "" : ", ") + parts[i];
  if (parts.size() - node.index == 1)
    extents += ",";
  return fmt::format("(let %shape{}: {} = dyn.{}({}stack(({}), axis=0), {}=None{}); %shape{})", id,
                     typeText(node.type), node.text, data, extents, attribute, dtype, id);
}

std::string sliceText(const std::string& tensor, const Subscript& slice, int64_t axis,
                      int64_t extent) {
  auto bound = [&](const std::optional<int64_t>& given, int64_t missing) {
    int64_t at = given ? *given : missing;
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  return fmt::format("strided_slice({}, begin=[{}], end=[{}], strides=[{}], axes=[{}])", tensor,
                     bound(slice.begin, 0), bound(slice.end, extent), slice.step, axis);
}

/// Dimensions are read from the last to the first, so that none has moved; then come the new ones.
std::string indexText(const Node& node, const Type* whole, std::string text) {
  std::vector<std::pair<const Subscript*, int64_t>> reads;
  int64_t axis = 0;
  for (const Subscript& each : node.subscripts)
    if (each.kind != SubscriptKind::New)
      reads.emplace_back(&each, axis++);
  for (size_t i = reads.size(); i-- > 0;) {
    auto [each, at] = reads[i];
    const Dim* dim = whole && size_t(at) < whole->shape.size() ? whole->shape[size_t(at)] : nullptr;
    int64_t extent = dim && dim->isConstant() ? dim->value : 0;
    if (each->kind == SubscriptKind::At)
      text = fmt::format("take({}, {}i32, axis={})", text,
                         each->position < 0 ? each->position + extent : each->position, at);
    else if (!each->isWhole())
      text = sliceText(text, *each, at, extent);
  }
  axis = 0;
  for (const Subscript& each : node.subscripts) {
    if (each.kind == SubscriptKind::New)
      text = fmt::format("expand_dims({}, axis={}, num_newaxis=1)", text, axis);
    axis += each.kind != SubscriptKind::At;
  }
  return text;
}

} // namespace

std::string plainForm(const Program& program, NodeId id,
                      const std::function<std::string(NodeId)>& expr) {
  const Node& node = program.node(id);
  std::vector<std::string> parts;
  for (NodeId part : node.parts)
    parts.push_back(expr(part));
  switch (node.kind) {
  case NodeKind::Field:
    return fieldText(node, id, parts[0]);
  case NodeKind::With:
    return copyText(node, id, parts[0], parts[1]);
  case NodeKind::Extent:
    return fmt::format("take(shape_of({}, dtype=\"int32\"), {}i32)", parts[0], node.index);
  case NodeKind::ComputedShape:
    return shapeText(node, id, parts);
  case NodeKind::WantedShape:
    return fmt::format("full({}, shape={}, dtype=\"float32\")", parts[0],
                       numbers(node.type->shape));
  default:
    return indexText(node, program.node(node.parts[0]).type, parts[0]);
  }
}

} // namespace harness
