// The type that is wanted says how to read on.
#include "driver/values/literal.h"

#include "driver/values/input_literal.h"
#include "runtime/formats/quote.h"

#include <fmt/format.h>

namespace driver {

using lang::Type;
using runtime::Done;
using runtime::Error;
using runtime::Result;

namespace {

class ValueReader {
public:
  ValueReader(std::string_view text, ValueBuilder& builder, const ReadLeaf& leaf)
      : text_(text), builder_(builder), leaf_(leaf), outside_(builder.depth()) {}

  Result<Done> read() {
    auto good = begin();
    while (good && builder_.depth() > outside_)
      good = builder_.isFull() ? close() : begin();
    if (!good)
      return good;
    skipBlanks();
    return at_ == text_.size() ? good : expected("the end");
  }

private:
  void skipBlanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool skip(char mark) {
    skipBlanks();
    bool isThere = at_ < text_.size() && text_[at_] == mark;
    at_ += isThere;
    return isThere;
  }

  Error expected(std::string_view what) const {
    std::string_view rest = text_.substr(at_);
    return Error{fmt::format("{} is expected {}", what,
                             rest.empty() ? "behind it"
                                          : fmt::format("before {}", formats::backquoted(rest)))};
  }

  /// Reads a value up to its first field, or all of one that has none.
  Result<Done> begin() {
    const Type* type = builder_.wanted();
    if (auto problem = unreadable(builder_))
      return *problem;
    if (type->isTensor())
      return tensor();
    if (!type->isTuple())
      return constructor();
    builder_.openTuple();
    return skip('(') ? Result<Done>(Done{}) : expected("`(`");
  }

  Result<Done> constructor() {
    skipBlanks();
    size_t end = std::min(text_.find_first_of("(), \t\r\n", at_), text_.size());
    if (end == at_ && end < text_.size())
      return expected(fmt::format("a constructor of `{}`", builder_.wanted()->definition->name));
    auto named = constructorNamed(builder_, text_.substr(at_, end - at_));
    if (!named)
      return named.failure();
    at_ = end;
    builder_.open(**named);
    if (!(*named)->fields.empty())
      return skip('(') ? Result<Done>(Done{}) : expected("`(`");
    builder_.close();
    return separate();
  }

  /// Reads a tensor, which ends where a comma or a parenthesis stands in none of its own.
  Result<Done> tensor() {
    size_t depth = 0, end = at_;
    for (; end < text_.size() && (depth > 0 || (text_[end] != ',' && text_[end] != ')')); ++end) {
      depth += text_[end] == '[' || text_[end] == '(';
      depth -= (text_[end] == ']' || text_[end] == ')') && depth > 0;
    }
    auto read = leaf_(text_.substr(at_, end - at_));
    if (!read)
      return read.failure();
    at_ = end;
    builder_.put(runtime::tensorValue(*std::move(read)));
    return separate();
  }

  /// Closes a value that has all its fields.
  Result<Done> close() {
    if (!skip(')'))
      return expected("`)`");
    builder_.close();
    return separate();
  }

  /// Skips the comma behind a field; one may stand behind the last one too.
  Result<Done> separate() {
    bool isGood = builder_.depth() == outside_ || skip(',') || builder_.isFull();
    return isGood ? Result<Done>(Done{}) : expected("`,`");
  }

  std::string_view text_;
  size_t at_ = 0;
  ValueBuilder& builder_;
  const ReadLeaf& leaf_;
  const size_t outside_;
};

} // namespace

std::string withoutComments(std::string_view text) {
  std::string result(text);
  for (size_t at = result.find('/'); at != std::string::npos; at = result.find('/', at)) {
    bool isLine = result.compare(at, 2, "//") == 0;
    if (!isLine && result.compare(at, 2, "/*") != 0) {
      ++at;
      continue;
    }
    size_t end = result.find(isLine ? "\n" : "*/", at + 2);
    end = end == std::string::npos ? result.size() : end + (isLine ? 0 : 2);
    std::fill(result.begin() + ptrdiff_t(at), result.begin() + ptrdiff_t(end), ' ');
    at = end;
  }
  return result;
}

Result<Done> readValueText(std::string_view text, ValueBuilder& builder, const ReadLeaf& leaf) {
  return ValueReader(text, builder, leaf).read();
}

Result<Done> readValueLiteral(std::string_view text, ValueBuilder& builder,
                              const AcceptTensor& accept) {
  const std::string plain = withoutComments(text);
  return readValueText(plain, builder, [&](std::string_view leaf) -> Result<runtime::Tensor> {
    const Type& type = *builder.wanted();
    auto tensor = literalTensor(leaf, type.dtype);
    return tensor ? accept(builder, *std::move(tensor)) : tensor.failure();
  });
}

} // namespace driver
