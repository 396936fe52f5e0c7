// Cursors of a call lie behind those of its caller, the one that ends the call first.
#include "driver/debug/view.h"

#include "lang/ir/walk.h"
#include "lang/source/display_line.h"
#include "lang/source/way_back.h"
#include "runtime/formats/quote.h"
#include "runtime/formats/tensor_bytes.h"

#include <charconv>
#include <fmt/format.h>
#include <unordered_map>

namespace driver {

using runtime::Error;
using runtime::Result;
using runtime::Value;
using runtime::ValueKind;

namespace {

constexpr uint32_t widestLine = 100;

/// The first line of a function.
lang::SourceRange headOf(const lang::Function& function) {
  return {function.range.begin, function.range.begin};
}

Result<int64_t> readIndex(std::string_view text, int64_t size) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  int64_t index = 0;
  auto end = std::from_chars(text.data(), text.data() + text.size(), index);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size())
    return Error{fmt::format("{} is no index", formats::backquoted(text))};
  if (index < 0 || index > size)
    return Error{fmt::format("{} is not from 0 to {}", index, size)};
  return index;
}

/// Rows of a tensor: `2`, `2, 3` or `2, 3:5`.
Result<Value> rowsOf(const Value& value, std::string_view indices) {
  if (value.kind() != ValueKind::Tensor)
    return Error{"only tensors have rows"};
  const runtime::Tensor& tensor = value.tensor();
  runtime::Shape shape(tensor.shape().begin(), tensor.shape().end());
  std::string_view bytes = formats::bytesOf(tensor);
  while (true) {
    size_t comma = std::min(indices.find(','), indices.size());
    std::string_view index = indices.substr(0, comma);
    if (shape.empty())
      return Error{"these are more indices than dimensions"};
    size_t rowBytes = shape[0] == 0 ? 0 : bytes.size() / size_t(shape[0]);
    size_t colon = index.find(':');
    auto first = readIndex(index.substr(0, colon), shape[0] - (colon == index.npos ? 1 : 0));
    if (!first)
      return first.failure();
    auto last = colon == index.npos ? Result<int64_t>(*first + 1)
                                    : readIndex(index.substr(colon + 1), shape[0]);
    if (!last)
      return last.failure();
    if (*last < *first || (colon != index.npos && comma < indices.size()))
      return Error{"a range comes last, and ends behind its beginning"};
    bytes = bytes.substr(size_t(*first) * rowBytes, size_t(*last - *first) * rowBytes);
    if (colon == index.npos)
      shape.erase(shape.begin());
    else
      shape[0] = *last - *first;
    if (comma == indices.size())
      break;
    indices.remove_prefix(comma + 1);
  }
  auto part = formats::tensorFromBytes(tensor.dtype(), shape, bytes);
  if (!part)
    return part.failure();
  return runtime::tensorValue(*std::move(part));
}

using Scope = std::unordered_map<const lang::Var*, size_t>;

/// A block, and the binding of the block around it that it is a part of.
struct InnerBlock {
  const lang::Block* block;
  const lang::Binding* holder = nullptr;
  size_t around = 0;
};

/// A block of a function and those around it, innermost first. A block in tail position has taken
/// the place of that around it in the run, so they are looked for in the text.
std::vector<InnerBlock> blocksAround(const lang::Function& function, const lang::Block* block) {
  std::vector<InnerBlock> all{{function.body}};
  size_t at = 0;
  for (; all[at].block != block; ++at)
    for (const lang::Binding& binding : all[at].block->bindings)
      if (!binding.value->as<lang::Function>())
        lang::forEachBlock(*binding.value, [&](const lang::Block& inner) {
          all.push_back({&inner, &binding, at});
        });
  std::vector<InnerBlock> around{all[at]};
  for (; at > 0; at = all[at].around)
    around.push_back(all[all[at].around]);
  return around;
}

/// The variables that can be named where a call stands; the later they came, the greater.
Scope scopeOf(const OpenCall& call, const lang::FrameLayout& layout) {
  Scope scope;
  auto add = [&](const lang::Var& var) { scope.emplace(&var, scope.size() + 1); };
  auto addBlock = [&](const lang::Block& block, const lang::Binding* end) {
    for (const lang::Binding& binding : block.bindings) {
      if (&binding == end)
        return;
      add(*binding.var);
    }
  };
  for (const lang::Var* var : layout.captures)
    add(*var);
  for (const lang::Var* var : call.activation->function->parameters)
    add(*var);
  std::vector<InnerBlock> blocks = blocksAround(*call.activation->function, call.block);
  for (size_t i = blocks.size(); i-- > 0;) {
    const InnerBlock& inner = blocks[i];
    if (const auto* match = inner.holder ? inner.holder->value->as<lang::Match>() : nullptr)
      for (const lang::Arm& arm : match->arms)
        if (arm.body == inner.block)
          lang::forEachPatternVar(*arm.pattern, add);
    addBlock(*inner.block, i > 0 ? blocks[i - 1].holder : call.binding);
  }
  return scope;
}

/// The call of an activation, whose innermost block in progress is that of the cursor.
OpenCall callAt(const interp::Activation& activation, const interp::Cursor& cursor) {
  OpenCall call{&activation, headOf(*activation.function), nullptr, cursor.block};
  if (cursor.next > 0) {
    call.binding = &cursor.block->bindings[cursor.next - 1];
    call.place = call.binding->value->range;
  }
  return call;
}

} // namespace

OpenCall innermostCall(const interp::State& state) {
  return callAt(state.activations.back(), state.cursors.back());
}

std::vector<OpenCall> openCalls(const interp::State& state) {
  std::vector<OpenCall> calls;
  bool isInnermost = true;
  auto activation = state.activations.rbegin();
  for (auto cursor = state.cursors.rbegin();
       cursor != state.cursors.rend() && activation != state.activations.rend(); ++cursor) {
    if (isInnermost)
      calls.push_back(callAt(*activation, *cursor));
    isInnermost = cursor->endsCall;
    if (isInnermost)
      ++activation;
  }
  return calls;
}

std::vector<Local> localsOf(const interp::State& state, const OpenCall& call) {
  const lang::FrameLayout& layout = state.frames.layout(*call.activation->function);
  const auto scope = scopeOf(call, layout);
  std::vector<Local> locals;
  auto offer = [&](const lang::Var* var, const Value& value) {
    auto found = scope.find(var);
    if (value.isSet())
      locals.push_back({var, &value, found == scope.end() ? 0 : found->second});
  };
  for (size_t i = 0; i < layout.own.size(); ++i)
    offer(layout.own[i], call.activation->slots[i]);
  for (size_t i = 0; i < layout.captures.size(); ++i)
    offer(layout.captures[i], call.activation->slots[layout.own.size() + i]);
  return locals;
}

std::string markedLine(const lang::SourceMap& sources, lang::SourceRange range) {
  range = lang::inText(range);
  const lang::SourceFile* file = range.isValid() ? sources.find(range) : nullptr;
  if (!file)
    return "(this is in no text)\n";
  lang::LineColumn at = file->position(range.begin);
  std::string_view line = file->line(at.line);
  uint32_t begin = at.column - 1;
  auto end = uint32_t(std::min<size_t>(begin + (range.end - range.begin), line.size()));
  lang::DisplayLine shown = lang::displayLine(line, begin, widestLine);
  std::string text = fmt::format("{:>5} | {}\n", at.line, shown.text);
  uint32_t from = shown.columnOf(begin), to = end > begin ? shown.columnBehind(end) : from;
  if (to > from)
    text += fmt::format("      | {}{}\n", std::string(from, ' '), std::string(to - from, '^'));
  return text;
}

std::string listedLines(const lang::SourceFile& file, uint32_t first, uint32_t last,
                        uint32_t current) {
  uint32_t end = file.position(file.range().end).line;
  if (file.line(end).empty())
    --end;
  std::string text;
  for (uint32_t number = first; number <= std::min(last, end); ++number)
    text += fmt::format("{}{:>4} | {}\n", number == current ? '>' : ' ', number,
                        lang::displayLine(file.line(number), 0, widestLine).text);
  return text;
}

Result<Value> partOf(const Value& value, std::string_view path) {
  Value part = value;
  while (!path.empty()) {
    if (path[0] == '[' && path.find(']') != path.npos) {
      size_t end = path.find(']');
      auto rows = rowsOf(part, path.substr(1, end - 1));
      if (!rows)
        return rows;
      part = *std::move(rows);
      path.remove_prefix(end + 1);
    } else if (path[0] == '.') {
      size_t end = std::min(path.find_first_of(".[", 1), path.size());
      if (part.kind() != ValueKind::Tuple && part.kind() != ValueKind::Constructor)
        return Error{"only tuples and constructors have fields"};
      auto index = readIndex(path.substr(1, end - 1), int64_t(part.fields().size()) - 1);
      if (!index)
        return index.failure();
      part = Value(part.fields()[size_t(*index)]);
      path.remove_prefix(end);
    } else {
      return Error{fmt::format("{} is neither a field such as `.0` nor rows such as `[1, 2:4]`",
                               formats::backquoted(path))};
    }
  }
  return part;
}

} // namespace driver
