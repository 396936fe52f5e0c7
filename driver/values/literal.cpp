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

  /// A word that a mark follows, and takes both.
  std::optional<std::string_view> wordBefore(char mark) {
    skipBlanks();
    const size_t end = std::min(text_.find_first_of("(),=[] \t\r\n", at_), text_.size());
    const size_t next = std::min(text_.find_first_not_of(" \t\r\n", end), text_.size());
    if (end == at_ || next == text_.size() || text_[next] != mark)
      return std::nullopt;
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = next + 1;
    return word;
  }

  /// Reads a value up to its first field, or all of one that has none.
  Result<Done> begin() {
    if (isBehindItem())
      return nextItem();
    if (!lists_.empty() && builder_.depth() == lists_.back().depth + lists_.back().count)
      lists_.back().isItemNext = false;
    if (auto name = wordBefore('='); name && *name != builder_.wantedName())
      return Error{fmt::format("`{}` comes next, in the order of the type, and not {}",
                               builder_.path(), formats::backquoted(*name))};
    const Type* type = builder_.wanted();
    if (auto problem = unreadable(builder_))
      return *problem;
    if (auto list = type->definition ? listConstructors(*type->definition) : std::nullopt) {
      const size_t start = at_;
      if (wordBefore('(') == "list") {
        lists_.push_back({builder_.depth(), *list});
        return nextItem();
      }
      at_ = start;
    }
    if (type->isTensor())
      return tensor();
    if (!type->isTuple())
      return constructor();
    builder_.openTuple();
    return skip('(') ? Result<Done>(Done{}) : expected("`(`");
  }

  // Lists as `list(1, 2)`.

  /// Whether what comes next is an item of a list, or its end.
  bool isBehindItem() const {
    return !lists_.empty() && !lists_.back().isItemNext &&
           builder_.depth() == lists_.back().depth + lists_.back().count;
  }

  Result<Done> nextItem() {
    OpenList& list = lists_.back();
    if (!skip(')')) {
      builder_.open(*list.constructors.link);
      ++list.count;
      list.isItemNext = true;
      return Done{};
    }
    builder_.open(*list.constructors.empty);
    for (size_t i = 0; i <= list.count; ++i)
      builder_.close();
    lists_.pop_back();
    return separate();
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
    if (isBehindItem()) {
      const bool isEnd = !skip(',') && (at_ == text_.size() || text_[at_] != ')');
      return isEnd ? Result<Done>(expected("`,` or `)`")) : Done{};
    }
    bool isGood = builder_.depth() == outside_ || skip(',') || builder_.isFull();
    return isGood ? Result<Done>(Done{}) : expected("`,`");
  }

  std::string_view text_;
  size_t at_ = 0;
  ValueBuilder& builder_;
  const ReadLeaf& leaf_;
  const size_t outside_;

  /// A list that is open, which begins at a depth of values and has so many items so far.
  struct OpenList {
    size_t depth;
    ListConstructors constructors;
    size_t count = 0;
    /// Whether the last of these is still to be read.
    bool isItemNext = false;
  };
  std::vector<OpenList> lists_;
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
    auto tensor = literalTensor(leaf, type.dtype, builder.notation());
    return tensor ? accept(builder, *std::move(tensor)) : tensor.failure();
  });
}

} // namespace driver
