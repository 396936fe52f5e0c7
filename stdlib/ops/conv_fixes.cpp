// The mistakes that people make with convolutions and pools, each tried as a changed call.
#include "stdlib/ops/conv_fixes.h"

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

/// `layout` as the attribute `name`, when the text is another now.
Fix layoutFix(const RelationCall& call, Relation relation, std::string_view name,
              std::string_view layout) {
  if (call.attributes.text(name) == layout)
    return std::nullopt;
  return attributeFix(call, relation, name, lang::stringAttribute(layout));
}

Fix dataLayoutFix(const RelationCall& call, Relation relation, std::string_view name, size_t dims) {
  if (Fix last = layoutFix(call, relation, name, channelsLast[dims - 1]))
    return "`data` seems to have its channels last: " + *last;
  if (Fix first = layoutFix(call, relation, name, channelsFirst[dims - 1]))
    return "`data` seems to have its channels first: " + *first;
  return std::nullopt;
}

Fix kernelLayoutFix(const RelationCall& call, Relation relation, size_t dims) {
  if (Fix last = layoutFix(call, relation, "kernel_layout", outLast[dims - 1]))
    return "`weight` seems to have its output channels last: " + *last;
  if (Fix first = layoutFix(call, relation, "kernel_layout", outFirst[dims - 1]))
    return "`weight` seems to have its output channels first: " + *first;
  auto isOutputPadding = [](const lang::AttributeRow& row) { return row.name == "output_padding"; };
  if (std::ranges::any_of(call.attributes.rows, isOutputPadding))
    if (Fix first = layoutFix(call, relation, "kernel_layout", inFirst[dims - 1]))
      return "`weight` seems to have its input channels first: " + *first;
  return std::nullopt;
}

Fix bothLayoutsFix(const RelationCall& call, Relation relation, size_t dims) {
  for (bool last : {true, false}) {
    std::string_view data = last ? channelsLast[dims - 1] : channelsFirst[dims - 1];
    std::string_view weight = last ? outLast[dims - 1] : outFirst[dims - 1];
    Trial trial(call);
    trial.attribute("data_layout", lang::stringAttribute(data))
        .attribute("kernel_layout", lang::stringAttribute(weight));
    if (trial.holds(relation))
      return fmt::format("write `data_layout=\"{}\", kernel_layout=\"{}\"`", data, weight);
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
  Fix fix = listFix(call, relation, "padding", *padding);
  if (!fix)
    return std::nullopt;
  return *fix + ", with which this window keeps the size at stride 1";
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

Fix convFix(const RelationCall& call, Relation relation, size_t dims) {
  using Try = Fix (*)(const RelationCall&, Relation, size_t);
  constexpr Try tries[] = {
      [](const RelationCall& c, Relation r, size_t) { return batchAxisFix(c, r, 0, "data"); },
      [](const RelationCall& c, Relation r, size_t d) {
        return dataLayoutFix(c, r, "data_layout", d);
      },
      kernelLayoutFix,
      bothLayoutsFix,
      [](const RelationCall& c, Relation r, size_t) { return groupsFix(c, r); },
      sizesFix,
      paddingFix,
      [](const RelationCall& c, Relation r, size_t) { return channelsFix(c, r); },
  };
  for (Try attempt : tries)
    if (Fix fix = attempt(call, relation, dims))
      return fix;
  return std::nullopt;
}

Fix poolFix(const RelationCall& call, Relation relation, size_t dims) {
  if (Fix batch = batchAxisFix(call, relation, 0, "data"))
    return batch;
  return dataLayoutFix(call, relation, "layout", dims);
}

} // namespace stdlib
