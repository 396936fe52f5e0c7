// The mistakes that people make with convolutions and pools, each tried as a changed call.
#include "stdlib/ops/conv/conv_fixes.h"

#include "stdlib/ops/layout.h"
#include "stdlib/ops/window.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using lang::Attributes;
using lang::Dim;
using lang::RelationCall;

namespace {

constexpr std::string_view channelsFirst[] = {"NCW", "NCHW", "NCDHW"};
constexpr std::string_view channelsLast[] = {"NWC", "NHWC", "NDHWC"};
constexpr std::string_view outFirst[] = {"OIW", "OIHW", "OIDHW"};
constexpr std::string_view inFirst[] = {"IOW", "IOHW", "IODHW"};
constexpr std::string_view outLast[] = {"WIO", "HWIO", "DHWIO"};

/// The extent of operand `i` along an axis of the layout that an attribute writes, when it is one
/// number there.
std::optional<int64_t> extentOf(const RelationCall& call, size_t i, std::string_view attribute,
                                char axis) {
  auto layout = parseLayout(call.attributes.text(attribute));
  if (!layout || layout->hasTiles() || !call.operands[i]->isTensor() ||
      call.rank(i) != layout->rank() || !layout->find(axis))
    return std::nullopt;
  const Dim* dim = call.shape(i)[*layout->find(axis)];
  return dim->isConstant() ? std::optional(dim->value) : std::nullopt;
}

/// The extents of the weight along its spatial axes.
std::optional<std::vector<int64_t>> kernelOf(const RelationCall& call, size_t dims) {
  std::vector<int64_t> extents;
  for (char axis : spatialAxes(dims)) {
    auto extent = extentOf(call, 1, "kernel_layout", axis);
    if (!extent)
      return std::nullopt;
    extents.push_back(*extent);
  }
  return extents;
}

/// The spatial extents of operand `i` in a layout, when all are numbers.
std::optional<std::vector<int64_t>> spatialOf(const RelationCall& call, size_t i,
                                              std::string_view text, size_t dims) {
  auto layout = parseLayout(text);
  if (!layout || layout->hasTiles() || !call.operands[i]->isTensor() ||
      call.rank(i) != layout->rank())
    return std::nullopt;
  std::vector<int64_t> extents;
  for (char axis : spatialAxes(dims)) {
    auto place = layout->find(axis);
    if (!place || !call.shape(i)[*place]->isConstant())
      return std::nullopt;
    extents.push_back(call.shape(i)[*place]->value);
  }
  return extents;
}

bool isSquare(const std::vector<int64_t>& extents) {
  return std::ranges::count(extents, extents[0]) == ptrdiff_t(extents.size());
}

/// Whether data that is said to be in one layout may well be in another: a picture that is square
/// in the first is hardly one of other proportions.
bool mayBeData(const RelationCall& call, std::string_view name, std::string_view layout,
               size_t dims) {
  auto now = spatialOf(call, 0, call.attributes.text(name), dims);
  auto then = spatialOf(call, 0, layout, dims);
  return !now || !then || dims == 1 || !isSquare(*now) || isSquare(*then);
}

/// The same for a weight: of two windows, the larger one is hardly what is meant.
bool mayBeWeight(const RelationCall& call, std::string_view layout, size_t dims) {
  auto now = spatialOf(call, 1, call.attributes.text("kernel_layout"), dims);
  auto then = spatialOf(call, 1, layout, dims);
  return !now || !then || std::ranges::max(*then) <= std::ranges::max(*now);
}

/// Layouts written in small letters, which mean tiles, in capital ones.
Fix capitalsFix(const RelationCall& call, Relation relation) {
  lang::CallFix fix{"layouts are written in capital letters: {}"};
  Trial trial(call);
  // A trial keeps views of what it tries.
  std::vector<std::string> texts;
  texts.reserve(call.attributes.rows.size());
  for (const lang::AttributeRow& row : call.attributes.rows) {
    if (row.kind != lang::AttributeKind::String || !row.name.ends_with("layout"))
      continue;
    std::string_view now = call.attributes.text(row.name);
    std::string& text = texts.emplace_back(now);
    for (char& letter : text)
      letter = letter >= 'a' && letter <= 'z' ? char(letter - 'a' + 'A') : letter;
    if (text == now)
      continue;
    trial.attribute(row.name, lang::stringAttribute(text));
    fix.changes.push_back({lang::CallChange::Kind::Attribute,
                           0,
                           {},
                           std::string(row.name),
                           fmt::format("\"{}\"", text),
                           {}});
  }
  if (fix.changes.empty() || !trial.holds(relation))
    return std::nullopt;
  return fix;
}

/// One entry of a list for each spatial dimension.
Fix entriesFix(const RelationCall& call, Relation relation, size_t dims) {
  for (const lang::AttributeRow& row : call.attributes.rows) {
    if (row.kind != lang::AttributeKind::IntList || call.attributes.isNull(row.name))
      continue;
    std::vector<int64_t> entries = call.attributes.integers(row.name);
    if (entries.size() != 1 || dims == 1)
      continue;
    entries.resize(dims, entries[0]);
    if (Fix fix = listFix(call, relation, row.name, entries))
      return fix;
  }
  return std::nullopt;
}

/// `layout` as the attribute `name`, when the text is another now.
Fix layoutFix(const RelationCall& call, Relation relation, std::string_view name,
              std::string_view layout, std::string text) {
  if (call.attributes.text(name) == layout)
    return std::nullopt;
  return attributeFix(call, relation, name, lang::stringAttribute(layout), std::move(text));
}

Fix dataLayoutFix(const RelationCall& call, Relation relation, std::string_view name, size_t dims) {
  for (bool isLast : {true, false}) {
    std::string_view layout = (isLast ? channelsLast : channelsFirst)[dims - 1];
    if (!mayBeData(call, name, layout, dims))
      continue;
    if (Fix fix = layoutFix(call, relation, name, layout,
                            fmt::format("`data` seems to have its channels {}: write {{}}",
                                        isLast ? "last" : "first")))
      return fix;
  }
  return std::nullopt;
}

Fix kernelLayoutFix(const RelationCall& call, Relation relation, size_t dims) {
  struct Order {
    std::string_view layout, text;
  };
  const Order orders[] = {{outLast[dims - 1], "output channels last"},
                          {outFirst[dims - 1], "output channels first"},
                          {inFirst[dims - 1], "input channels first"}};
  auto isOutputPadding = [](const lang::AttributeRow& row) { return row.name == "output_padding"; };
  bool isTransposed = std::ranges::any_of(call.attributes.rows, isOutputPadding);
  for (const Order& order : orders) {
    bool isUsual = &order != &orders[2] || isTransposed;
    if (!isUsual || !mayBeWeight(call, order.layout, dims))
      continue;
    if (Fix fix = layoutFix(call, relation, "kernel_layout", order.layout,
                            fmt::format("`weight` seems to have its {}: write {{}}", order.text)))
      return fix;
  }
  return std::nullopt;
}

Fix bothLayoutsFix(const RelationCall& call, Relation relation, size_t dims) {
  for (bool isLast : {true, false}) {
    std::string_view data = (isLast ? channelsLast : channelsFirst)[dims - 1];
    std::string_view weight = (isLast ? outLast : outFirst)[dims - 1];
    if (!mayBeData(call, "data_layout", data, dims) || !mayBeWeight(call, weight, dims))
      continue;
    Trial trial(call);
    trial.attribute("data_layout", lang::stringAttribute(data))
        .attribute("kernel_layout", lang::stringAttribute(weight));
    if (trial.holds(relation))
      return lang::CallFix{"write {}",
                           {{lang::CallChange::Kind::Attribute,
                             0,
                             {},
                             "data_layout",
                             fmt::format("\"{}\"", data),
                             {}},
                            {lang::CallChange::Kind::Attribute,
                             0,
                             {},
                             "kernel_layout",
                             fmt::format("\"{}\"", weight),
                             {}}}};
  }
  return std::nullopt;
}

/// As many groups as the weight's input channels ask for, where groups are meant at all.
Fix groupsFix(const RelationCall& call, Relation relation) {
  auto inputs = extentOf(call, 0, "data_layout", 'C');
  auto taken = extentOf(call, 1, "kernel_layout", 'I');
  bool isMeant = call.attributes.integer("groups") > 1 || taken == 1;
  if (!isMeant || !inputs || taken.value_or(0) < 1 || *inputs % *taken != 0)
    return std::nullopt;
  return attributeFix(call, relation, "groups", lang::intAttribute(*inputs / *taken));
}

/// `channels` or `kernel_size` as the weight has them.
Fix sizesFix(const RelationCall& call, Relation relation, size_t dims) {
  if (auto outputs = extentOf(call, 1, "kernel_layout", 'O'))
    if (!call.attributes.isNull("channels"))
      if (Fix fix = attributeFix(call, relation, "channels", lang::intAttribute(*outputs)))
        return fix;
  auto kernel = kernelOf(call, dims);
  return kernel ? listFix(call, relation, "kernel_size", *kernel) : std::nullopt;
}

/// The padding with which a window of odd extents keeps the extents of the data.
Fix paddingFix(const RelationCall& call, Relation relation, size_t dims) {
  auto padding = kernelOf(call, dims);
  std::vector<int64_t> dilation = call.attributes.integers("dilation");
  if (!padding || dilation.size() != dims)
    return std::nullopt;
  for (size_t i = 0; i < dims; ++i) {
    int64_t& extent = (*padding)[i];
    if (extent % 2 == 0 || __builtin_mul_overflow(extent / 2, dilation[i], &extent))
      return std::nullopt;
  }
  return listFix(call, relation, "padding", *padding,
                 "write {}, with which this window keeps the size at stride 1");
}

/// The weight with as many input channels as the data has.
Fix channelsFix(const RelationCall& call, Relation relation) {
  auto inputs = extentOf(call, 0, "data_layout", 'C');
  auto layout = parseLayout(call.attributes.text("kernel_layout"));
  int64_t groups = call.attributes.integer("groups");
  if (!inputs || !layout || !layout->find('I') || groups < 1)
    return std::nullopt;
  return shapeFix(call, relation, 1, "weight", *layout->find('I'),
                  call.types.constant(*inputs / groups));
}

} // namespace

Fixes convFix(const RelationCall& call, Relation relation, size_t dims) {
  return firstFixes({capitalsFix(call, relation), entriesFix(call, relation, dims),
                     batchAxisFix(call, relation, 0),
                     dataLayoutFix(call, relation, "data_layout", dims),
                     kernelLayoutFix(call, relation, dims), bothLayoutsFix(call, relation, dims),
                     groupsFix(call, relation), sizesFix(call, relation, dims),
                     paddingFix(call, relation, dims), channelsFix(call, relation)});
}

Fixes poolFix(const RelationCall& call, Relation relation, size_t dims) {
  return firstFixes({capitalsFix(call, relation), entriesFix(call, relation, dims),
                     batchAxisFix(call, relation, 0),
                     dataLayoutFix(call, relation, "layout", dims)});
}

} // namespace stdlib
