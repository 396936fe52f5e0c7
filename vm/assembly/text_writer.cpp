// Code stands in the order of its words, so that a function tells where it is.
#include "vm/assembly/text_writer.h"

#include "vm/assembly/instructions.h"

#include <algorithm>

namespace assembly {

void TextWriter::put(const std::string& text) {
  if (!isLines(text))
    return lines.add(quoted(text));
  constexpr std::string_view start = "\n    |";
  std::string block;
  for (std::string_view left = text;;) {
    size_t end = std::min(left.find('\n'), left.size());
    (block += start) += left.substr(0, end);
    if (end == left.size())
      return lines.add(block + '\n');
    left.remove_prefix(end + 1);
  }
}

void TextWriter::put(const runtime::DType& dtype) {
  std::string name = runtime::dtypeName(dtype);
  if (runtime::parseDType(name) == dtype)
    lines.add(name);
  else
    putRecord([&] { fields(*this, const_cast<runtime::DType&>(dtype)); });
}

void TextWriter::put(const vm::Rep& rep) {
  if (rep.isScalar())
    put(rep.dtype);
  else
    lines.add(namesOf<vm::Hold>[size_t(rep.hold)]);
}

void TextWriter::put(const runtime::SourceRange& range) {
  lines.add(fmt::format("{}..{}", range.begin, range.end));
}

void TextWriter::put(const vm::Layout& layout) {
  putRecord([&] {
    fields(*this, const_cast<vm::Layout&>(layout));
    (*this)("name", std::string(layout.symbol.name));
  });
}

void TextWriter::putElements(const runtime::Tensor& tensor) {
  constexpr size_t longestLine = 88;
  std::string line;
  lines.add("[");
  for (size_t at = 0; at < tensor.byteSize(); at += tensor.dtype().bytes()) {
    line += elementText(tensor.dtype(), tensor.bytes() + at);
    bool isLast = at + tensor.dtype().bytes() == tensor.byteSize();
    line += isLast ? "" : ", ";
    if (line.size() > longestLine) {
      lines.add("\n    " + line.substr(0, line.find_last_not_of(' ') + 1));
      line.clear();
    }
  }
  lines.add(line);
  lines.add("]");
}

void TextWriter::put(const vm::Static& constant) {
  putRecord([&] {
    (*this)("layout", constant.layout);
    if (constant.layout != vm::boxedLayout)
      return;
    const runtime::Tensor& tensor = constant.value.tensor();
    (*this)("dtype", tensor.dtype(), "shape", tensor.shape());
    lines.item(false);
    lines.add("elements: ");
    putElements(tensor);
  });
}

void TextWriter::putCode(const vm::Function& function) {
  const vm::Program& program = made_.program;
  const std::vector<vm::Place>& places = program.places;
  for (size_t place = 0; place < function.size;) {
    const vm::Word* at = program.code.data() + function.start + place;
    std::string line = fmt::format("{:6}  {}", place, instructionText(program, at, place));
    while (nextPlace_ < places.size() && places[nextPlace_].start < function.start + place)
      ++nextPlace_;
    if (nextPlace_ < places.size() && places[nextPlace_].start == function.start + place)
      line += fmt::format(" from #{}", places[nextPlace_].origin);
    if (std::string text = remark(program, at); !text.empty())
      line += "  // " + text;
    lines.add(line + "\n");
    place += vm::wordCount(program, at);
  }
}

void TextWriter::put(const std::vector<vm::Function>& functions) {
  std::vector<size_t> order(functions.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return functions[i].start; });
  for (size_t number : order) {
    const vm::Function& function = functions[number];
    lines.add(fmt::format("\nf{} ", number));
    putRecord([&] { fields(*this, const_cast<vm::Function&>(function)); });
    lines.add("\n");
    putCode(function);
  }
}

} // namespace assembly
