// A line is a loop, a condition, an allocation, a name for an operation, or a statement. Bodies are
// the lines behind one that stand further to the right, as in the texts that are written.
#include "lower/loops/read.h"

#include "lower/loops/read_form.h"
#include "lower/loops/read_values.h"

#include <fmt/format.h>

namespace loops {

namespace {

class Reader {
public:
  explicit Reader(std::vector<Line> lines) : lines_(std::move(lines)) {}

  Nest run() {
    if (lines_.empty())
      throw Unreadable{"1:1: there is no kernel in this text"};
    header();
    while (at_ < lines_.size() && lines_[at_].tokens[0].text == "size")
      size();
    body(lines_[0].indent, nest_.body, 0);
    if (at_ < lines_.size())
      refuseAt(lines_[at_].tokens[0], "this line stands too far to the left");
    return std::move(nest_);
  }

private:
  void header() {
    Cursor line(lines_[at_++]);
    line.expect("kernel");
    nest_.name = line.word("the name of the kernel").text;
    buffers(line, Space::Input);
    line.expect("->");
    buffers(line, Space::Output);
    line.expect("numbers");
    const Token& numbers = line.word("`reference` or `reordered`");
    auto found = numbersOf(numbers.text);
    if (!found)
      refuseAt(numbers, "numbers are `reference` or `reordered`");
    nest_.numbers = *found;
    line.end();
  }

  void buffers(Cursor& line, Space space) {
    line.expect("(");
    if (line.takeIf(")"))
      return;
    do
      buffer(line, space);
    while (line.takeIf(","));
    line.expect(")");
  }

  void buffer(Cursor& line, Space space) {
    const Token& name = line.word("the name of a buffer");
    if (findBuffer(nest_, name.text))
      refuseAt(name, fmt::format("there is a buffer `{}` already", name.text));
    line.expect(":");
    const Token& dtype = line.word("an element type");
    auto type = runtime::parseDType(dtype.text);
    if (!type || !type->isComputable())
      refuseAt(dtype, fmt::format("`{}` is no element type to compute with", dtype.text));
    Buffer made{std::string(name.text), *type, {}, space};
    line.expect("[");
    while (!line.is("]")) {
      made.extents.push_back(extent(line, space));
      if (!line.takeIf(","))
        break;
    }
    line.expect("]");
    nest_.buffers.push_back(std::move(made));
  }

  /// New names in the extents of inputs and outputs are sizes.
  Form extent(Cursor& line, Space space) {
    bool isNew = space != Space::Scratch && line.peek().kind == TokenKind::Word &&
                 !isReserved(line.peek().text) && !nest_.table.find(line.peek().text);
    if (isNew) {
      Form form = nest_.table.name(line.peek().text);
      nest_.sizes.push_back({*nest_.table.nameOf(form)});
      scope_.push_back(*nest_.table.nameOf(form));
    }
    return readForm(line, nest_.table, scope_);
  }

  void size() {
    Cursor line(lines_[at_++]);
    line.expect("size");
    const Token& name = line.word("the name of a size");
    auto known = nest_.table.find(name.text);
    if (!known && !isReserved(name.text)) {
      known = nest_.table.nameOf(nest_.table.name(name.text));
      nest_.sizes.push_back({*known});
      scope_.push_back(*known);
    }
    if (!known)
      refuseAt(name, fmt::format("`{}` is no name for a size", name.text));
    auto place = std::ranges::find(nest_.sizes, *known, &Assumption::size);
    if (line.takeIf(">=")) {
      place->least = line.whole("the least size");
      if (!line.takeIf(","))
        return line.end();
    } else if (!line.takeIf(":")) {
      return line.end();
    }
    line.expect(name.text);
    line.expect("%");
    const Token& multiple = line.peek();
    place->multiple = line.whole("what the size is a multiple of");
    if (place->multiple < 1)
      refuseAt(multiple, "a size is a multiple of a number above 0");
    line.expect("==");
    line.expect("0");
    line.end();
  }

  void body(uint32_t indent, std::vector<Node>& nodes, size_t depth) {
    uint32_t own = at_ < lines_.size() ? lines_[at_].indent : 0;
    size_t visible = visible_.size();
    while (at_ < lines_.size() && lines_[at_].indent > indent) {
      const Token& first = lines_[at_].tokens[0];
      if (lines_[at_].indent != own)
        refuseAt(first, "this line stands further to the right or left than those above it, but "
                        "none of them has a body that it could be in");
      if (depth > deepestNesting)
        refuseAt(first, fmt::format("loops are nested no deeper than {}", deepestNesting));
      line(own, nodes, depth);
    }
    visible_.resize(visible);
  }

  void line(uint32_t indent, std::vector<Node>& nodes, size_t depth) {
    Cursor line(lines_[at_]);
    if (auto kind = runKindOf(line.peek().text); kind && line.peekSecond().text != "[")
      return loop(line, *kind, indent, nodes, depth);
    if (line.is("if")) {
      line.take();
      ++at_;
      Form left = readForm(line, nest_.table, scope_);
      line.expect("<");
      Form right = readForm(line, nest_.table, scope_);
      line.end();
      nodes.push_back({Condition{left, right}});
      return body(indent, nodes.back().body, depth + 1);
    }
    if (line.is("alloc")) {
      line.take();
      ++at_;
      buffer(line, Space::Scratch);
      line.end();
      visible_.push_back(uint32_t(nest_.buffers.size() - 1));
      nodes.push_back({Allocation{visible_.back()}});
      return;
    }
    nodes.push_back({statement()});
  }

  void loop(Cursor& line, RunKind kind, uint32_t indent, std::vector<Node>& nodes, size_t depth) {
    line.take();
    ++at_;
    const Token& name = line.word("the variable of the loop");
    if (nest_.table.find(name.text) || isReserved(name.text))
      refuseAt(name, fmt::format("`{}` is the name of something else already", name.text));
    line.expect("in");
    Form end = readForm(line, nest_.table, scope_);
    line.end();
    Name variable = *nest_.table.nameOf(nest_.table.name(name.text));
    scope_.push_back(variable);
    nodes.push_back({Loop{variable, end, kind}});
    body(indent, nodes.back().body, depth + 1);
    scope_.pop_back();
  }

  Statement statement() {
    ValueReader values(nest_, scope_, visible_);
    while (at_ < lines_.size() && lines_[at_].tokens[0].text == "let") {
      Cursor line(lines_[at_++]);
      values.readName(line);
    }
    if (at_ == lines_.size())
      throw Unreadable{fmt::format("{}:1: names of operations, but no statement that uses them",
                                   lines_.back().tokens[0].line + 1)};
    Cursor line(lines_[at_++]);
    return values.readStatement(line);
  }

  Nest nest_;
  std::vector<Line> lines_;
  size_t at_ = 0;
  /// Sizes, and the variables of the loops around.
  std::vector<Name> scope_;
  /// Scratch that is allocated here or further out.
  std::vector<uint32_t> visible_;
};

} // namespace

namespace {

/// The verifier compares statements with each other.
void demandShort(const std::vector<Line>& lines) {
  constexpr size_t mostLines = 5000, mostTokens = 10000;
  if (lines.size() > mostLines)
    refuseAt(lines[mostLines].tokens[0],
             fmt::format("the text of a kernel has at most {} lines", mostLines));
  for (const Line& line : lines)
    if (line.tokens.size() > mostTokens)
      refuseAt(line.tokens[mostTokens],
               fmt::format("a line has at most {} words and signs", mostTokens));
}

} // namespace

runtime::Checked<Nest> nestOf(std::string_view text) {
  try {
    std::vector<Line> lines = linesOf(text);
    demandShort(lines);
    Nest nest = Reader(std::move(lines)).run();
    if (nest.table.isTooLarge())
      return runtime::Problem{"1:1: a size or position has numbers beyond 64 bits, or is too long"};
    return nest;
  } catch (const Unreadable& unreadable) {
    return runtime::Problem{unreadable.problem};
  }
}

} // namespace loops
