// A line is a size that a call gives, an operation with a name, a tensor, or, at the end, the
// results. Each stands behind what it is made of.
#include "lower/tensor/read.h"

#include "lower/tensor/read_value.h"
#include "lower/tensor/verify.h"
#include "lower/tensor/walk.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace tensor {

namespace {

using text::Cursor;
using text::Line;
using text::refuseAt;
using text::Token;
using text::TokenKind;

/// The number behind the letter of a word such as `t12`.
std::optional<uint32_t> numberBehind(char letter, const Token& word) {
  uint32_t number = 0;
  const char *begin = word.text.data() + 1, *end = word.text.data() + word.text.size();
  if (word.kind != TokenKind::Word || word.text[0] != letter || begin == end)
    return std::nullopt;
  bool isNumber = std::from_chars(begin, end, number) == std::from_chars_result{end, std::errc{}};
  return isNumber ? std::optional(number) : std::nullopt;
}

class FunctionReader {
public:
  explicit FunctionReader(const std::vector<Line>& lines) : lines_(lines) {}

  TensorFunction run() {
    for (at_ = 0; at_ < lines_.size() && first().text != "result"; ++at_) {
      Cursor line(lines_[at_]);
      if (line.is("size"))
        size(line);
      else if (line.is("let"))
        operation(line);
      else
        tensor(line);
      line.end();
    }
    if (at_ == lines_.size())
      throw text::Unreadable{fmt::format("{}:1: a tensor function ends with a line of its results",
                                         lines_.empty() ? 1 : lines_.back().tokens[0].line + 1)};
    results();
    if (at_ + 1 < lines_.size())
      refuseAt(lines_[at_ + 1].tokens[0], "nothing stands behind the results");
    verify();
    return std::move(function_);
  }

  // What readValue() asks of who makes values.

  using Value = const ScalarNode*;

  static runtime::DType typeOf(Value value) { return value->dtype; }

  Value number(runtime::DType dtype, NumberText number) {
    return arena().make<ScalarNumber>(ScalarNode{ScalarKind::Number, dtype}, number.real,
                                      number.integer);
  }

  Value cast(runtime::DType dtype, Value value) {
    return arena().make<ScalarCast>(ScalarNode{ScalarKind::Cast, dtype}, value);
  }

  Value apply(runtime::DType dtype, ScalarFunction function, const std::vector<Value>& operands) {
    return arena().make<ScalarApply>(ScalarNode{ScalarKind::Apply, dtype}, function,
                                     arena().copy(operands));
  }

  const Value* named(int64_t name) const {
    auto found = names_.find(name);
    return found == names_.end() ? nullptr : &found->second;
  }

  /// A whole number, a size, an index, an element of a tensor, a reduction.
  std::optional<Value> own(Cursor& line, size_t depth) {
    if (isAtNumber(line) && line.peek().kind != TokenKind::Word)
      return number(runtime::Int64, readNumber(line, runtime::Int64));
    const Token& word = line.peek();
    if (auto size = numberBehind('n', word); size && *size < sizes_.size())
      return line.take(), sizes_[*size];
    std::string_view next = line.peekSecond().text;
    if (auto axis = numberBehind('i', word))
      return line.take(), index(*axis);
    if (next == "[" && numberBehind('t', word))
      return load(line, depth);
    if (auto combiner = combinerOfNoun(word.text); combiner && next == "[")
      return reduction(line, *combiner, depth);
    return std::nullopt;
  }

private:
  Arena& arena() { return *function_.arena; }
  const Token& first() const { return lines_[at_].tokens[0]; }

  /// `size n0: dimension 1 of input 0`.
  void size(Cursor& line) {
    line.expect("size");
    const Token& name = line.word("the name of a size");
    if (numberBehind('n', name) != sizes_.size())
      refuseAt(name, fmt::format("expected `n{}`, but found `{}`", sizes_.size(), name.text));
    lineOfPart_.insert(lineOfPart_.begin() + ptrdiff_t(sizes_.size()), at_);
    line.expect(":");
    line.expect("dimension");
    uint32_t dim = place(line, "the number of a dimension");
    line.expect("of");
    bool isOfResult = line.takeIf("result");
    if (!isOfResult)
      line.expect("input");
    uint32_t tensor = place(line, "the number of a tensor");
    sizes_.push_back(addSize(function_, {isOfResult, tensor, dim}));
  }

  static uint32_t place(Cursor& line, std::string_view what) {
    const Token& token = line.peek();
    int64_t number = line.whole(what);
    if (number > int64_t(UINT32_MAX) - 1)
      refuseAt(token, fmt::format("{} is too large for {}", token.text, what));
    return uint32_t(number);
  }

  /// `let %0 = ...`
  void operation(Cursor& line) {
    line.expect("let");
    const Token& sign = line.expect("%");
    int64_t name = line.whole("the number of an operation");
    line.expect("=");
    if (named(name))
      refuseAt(sign, fmt::format("there is an operation `%{}` already", name));
    names_.emplace(name, readValue(*this, line));
  }

  /// `t2(n0, 3): float32 = ...`, or `t2[i0 < n0]: float32 = ...`
  void tensor(Cursor& line) {
    const Token& name = line.word("the name of a tensor");
    if (numberBehind('t', name) != function_.tensors.size())
      refuseAt(name,
               fmt::format("expected `t{}`, but found `{}`", function_.tensors.size(), name.text));
    lineOfPart_.push_back(at_);
    TensorInfo info;
    Stage stage;
    bool isMap = line.is("[");
    if (isMap) {
      stage.axes = loops(line);
      for (const LoopAxis& axis : stage.axes)
        info.shape.push_back(axis.extent);
    } else {
      info.shape = shape(line);
    }
    line.expect(":");
    info.dtype = elementType(line);
    line.expect("=");
    const Token& kind = line.peek();
    if (!isMap && line.takeIf("input")) {
      if (!function_.stages.empty())
        refuseAt(kind, "inputs stand in front of all other tensors");
      ++function_.inputCount;
    } else {
      if (isMap)
        stage.body = readValue(*this, line);
      else
        ofWhole(line, stage);
      function_.stages.push_back(stage);
    }
    function_.tensors.push_back(std::move(info));
  }

  /// `reshape t0`, or `exclusive scan sum t0 axis 1`.
  void ofWhole(Cursor& line, Stage& stage) {
    if (line.takeIf("reshape")) {
      stage.kind = StageKind::Reshape;
      stage.source = tensorName(line);
      return;
    }
    stage.kind = StageKind::Scan;
    stage.exclusive = line.takeIf("exclusive");
    line.expect("scan");
    const Token& word = line.word("`sum` or `product`");
    auto combiner = combinerOfNoun(word.text);
    if (combiner != Combiner::Sum && combiner != Combiner::Product)
      refuseAt(word, fmt::format("expected `sum` or `product`, but found `{}`", word.text));
    stage.combiner = *combiner;
    stage.source = tensorName(line);
    line.expect("axis");
    stage.axis = place(line, "the number of a dimension");
  }

  static runtime::DType elementType(Cursor& line) {
    const Token& word = line.word("an element type");
    auto dtype = runtime::parseDType(word.text);
    if (!dtype || !dtype->isComputable())
      refuseAt(word, fmt::format("`{}` is no element type to compute with", word.text));
    return *dtype;
  }

  ScalarNodes shape(Cursor& line) {
    ScalarNodes made;
    line.expect("(");
    while (!line.is(")")) {
      made.push_back(readValue(*this, line));
      if (!line.takeIf(","))
        break;
    }
    line.expect(")");
    return made;
  }

  std::span<const LoopAxis> loops(Cursor& line, size_t depth = 0) {
    std::vector<LoopAxis> axes;
    line.expect("[");
    while (!line.is("]")) {
      const Token& name = line.word("the index of a loop");
      auto axis = numberBehind('i', name);
      if (!axis)
        refuseAt(name, fmt::format("`{}` is no index; such are `i0`, `i1`", name.text));
      if (!loops_.insert(*axis).second)
        refuseAt(name, fmt::format("there is a loop of `{}` already", name.text));
      line.expect("<");
      axes.push_back({*axis, readOperand(*this, line, depth + 1)});
      if (!line.takeIf(","))
        break;
    }
    line.expect("]");
    return arena().copy(axes);
  }

  Value index(uint32_t axis) {
    Value& made = indices_[axis];
    if (!made)
      made = arena().make<ScalarIndex>(ScalarNode{ScalarKind::Index, runtime::Int64}, axis);
    return made;
  }

  uint32_t tensorName(Cursor& line) const {
    const Token& name = line.word("a tensor");
    auto tensor = numberBehind('t', name);
    if (!tensor || *tensor >= function_.tensors.size())
      refuseAt(name, fmt::format("there is no tensor `{}` in front of this", name.text));
    return *tensor;
  }

  Value load(Cursor& line, size_t depth) {
    uint32_t tensor = tensorName(line);
    ScalarNodes position;
    Value outside = nullptr;
    line.expect("[");
    while (!line.is("]") && !line.is("else")) {
      position.push_back(readValue(*this, line, 1, depth + 1));
      if (!line.takeIf(","))
        break;
    }
    if (line.takeIf("else"))
      outside = readValue(*this, line, 1, depth + 1);
    line.expect("]");
    return arena().make<ScalarLoad>(ScalarNode{ScalarKind::Load, function_.tensors[tensor].dtype},
                                    tensor, arena().copy(position), outside);
  }

  /// `sum[i1 < n0](...)`, or `argmax[i1 < n0]<int32>(...)`.
  Value reduction(Cursor& line, Combiner combiner, size_t depth) {
    line.take();
    auto axes = loops(line, depth);
    auto dtype = readTypeArgument(line);
    if (!dtype && findsPlace(combiner))
      refuseAt(line.peek(), "a place that is looked for needs an element type, as in `<int32>`");
    line.expect("(");
    Value body = readValue(*this, line, 1, depth + 1);
    line.expect(")");
    return arena().make<ScalarReduce>(ScalarNode{ScalarKind::Reduce, dtype.value_or(body->dtype)},
                                      combiner, axes, body);
  }

  void results() {
    Cursor line(lines_[at_]);
    line.expect("result");
    if (line.peek().kind != TokenKind::End)
      do
        function_.results.push_back(tensorName(line));
      while (line.takeIf(","));
    line.end();
  }

  void verify() const {
    size_t part = 0;
    if (const char* problem = problemOf(function_, &part))
      refuseAt(part < lineOfPart_.size() ? lines_[lineOfPart_[part]].tokens[0] : first(), problem);
  }

  const std::vector<Line>& lines_;
  size_t at_ = 0;
  TensorFunction function_;
  /// Of the sizes, and then of the tensors.
  std::vector<size_t> lineOfPart_;
  ScalarNodes sizes_;
  std::map<int64_t, Value> names_;
  std::map<uint32_t, Value> indices_;
  std::set<uint32_t> loops_;
};

} // namespace

runtime::Checked<TensorFunction> tensorFunctionOf(std::string_view text) {
  try {
    std::vector<Line> lines = text::linesOf(text);
    return FunctionReader(lines).run();
  } catch (const text::Unreadable& unreadable) {
    return runtime::Problem{unreadable.problem};
  }
}

} // namespace tensor
