// Sums of products of what stands in parentheses; how deep that goes is bounded.
#include "lower/loops/read_form.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops {

namespace {

constexpr size_t deepest = 40;

class FormReader {
public:
  FormReader(Cursor& line, sizes::Table& table, std::span<const Name> names)
      : line_(line), table_(table), names_(names) {}

  Form sum(size_t depth) {
    if (depth > deepest)
      refuseAt(line_.peek(), "this is nested too deep to read");
    bool isNegative = line_.takeIf("-");
    Form form = product(depth);
    if (isNegative)
      form = table_.sum(table_.number(0), form, -1);
    while (line_.is("+") || line_.is("-")) {
      int64_t scale = line_.take().text == "+" ? 1 : -1;
      form = table_.sum(form, product(depth), scale);
    }
    return form;
  }

private:
  Form product(size_t depth) {
    Form form = factor(depth);
    while (line_.is("*") || line_.is("/") || line_.is("%")) {
      const Token& sign = line_.take();
      Form right = factor(depth);
      if (sign.text == "*") {
        form = table_.product(form, right);
        continue;
      }
      if (auto number = table_.constantOf(right); number && *number <= 0)
        refuseAt(sign, "a form is divided by numbers above 0 alone");
      form = sign.text == "/" ? table_.quotient(form, right) : table_.rest(form, right);
    }
    return form;
  }

  Form factor(size_t depth) {
    if (line_.takeIf("(")) {
      Form form = sum(depth + 1);
      line_.expect(")");
      return form;
    }
    if (line_.peek().kind == TokenKind::Number)
      return table_.number(line_.whole("a number"));
    const Token& word = line_.word("a name or a number");
    if (word.text == "min" || word.text == "max") {
      line_.expect("(");
      Form left = sum(depth + 1);
      line_.expect(",");
      Form right = sum(depth + 1);
      line_.expect(")");
      return word.text == "min" ? table_.least(left, right) : table_.greatest(left, right);
    }
    auto name = table_.find(word.text);
    if (!name || std::ranges::find(names_, *name) == names_.end())
      refuseAt(word, fmt::format("there is no size and no loop `{}` here", word.text));
    return table_.name(word.text);
  }

  Cursor& line_;
  sizes::Table& table_;
  std::span<const Name> names_;
};

} // namespace

Form readForm(Cursor& line, sizes::Table& table, std::span<const Name> names) {
  return FormReader(line, table, names).sum(0);
}

std::optional<uint32_t> findBuffer(const Nest& nest, std::string_view name) {
  auto found = std::ranges::find(nest.buffers, name, &Buffer::name);
  return found == nest.buffers.end() ? std::nullopt
                                     : std::optional(uint32_t(found - nest.buffers.begin()));
}

} // namespace loops
