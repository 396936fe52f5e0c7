// Words for people, in which code stands as the reader writes code.
//
// A program is written in one of two notations, and what is said of it speaks that one. Who has
// something to say gives the words with what they are about, such as a type; they become text when
// they are shown, in the notation of the file that they are about. Words that nobody reads, such as
// those of a trial that fails, cost no text.
#pragma once

#include "runtime/dtype.h"

#include <concepts>
#include <fmt/format.h>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runtime {

/// How a text is written: Relay's format, or Baton's own notation.
enum class Notation : uint8_t { Relay, Baton };

/// The notation of a text. Relay's header says it wherever it stands, else the name of the file:
/// those in Baton's notation end in `.baton`.
Notation notationOf(std::string_view name, std::string_view text);

/// A text that is made when it is asked for, in either notation.
class Words {
public:
  using Spelling = std::function<std::string(Notation)>;

  Words() = default;
  /// The same in both notations.
  Words(std::string text) : text_(std::move(text)) {}
  Words(std::string_view text) : text_(text) {}
  Words(const char* text) : text_(text) {}
  /// What `spelling` makes; what it holds must live as long as the words.
  explicit Words(Spelling spelling) : spelling_(std::move(spelling)) {}

  std::string in(Notation notation) const { return spelling_ ? spelling_(notation) : text_; }
  /// In Relay's notation, for who compares words or shows them beside no program.
  std::string plain() const { return in(Notation::Relay); }
  /// The same words for when what they are about may be gone.
  Words settled() const;
  /// True for words that nobody gave.
  bool empty() const { return text_.empty() && !spelling_; }

private:
  std::string text_;
  Spelling spelling_;
};

/// Words with `arguments` in place of each `{}`; `{{` and `}}` are braces.
Words filled(std::string_view format, std::vector<Words> arguments);

/// Words one behind the other, with `between` between them.
Words joined(std::vector<Words> parts, std::string_view between);

/// One text in Relay's notation, and another one in Baton's.
Words either(std::string relay, std::string baton);

/// `float32`, or `f32` in Baton's notation.
Words spelled(DType dtype);

/// An element type as an attribute's value: `"float32"` or `f32`.
Words dtypeValue(DType dtype);

/// The type of a tensor of rank 1 and more: `Tensor[(3, n), float32]`, or `f32[3, n]`.
std::string tensorText(DType dtype, std::string_view extents, Notation notation);

/// `%x`, or `x` in Baton's notation.
Words localName(std::string_view name);

/// The name of a type or a constructor; what is imported, `lib/Tree`, is `lib.Tree` in Baton's
/// notation.
Words plainName(std::string_view name);

/// `@f` or `@optim/adam`, or `f` and `optim.adam` in Baton's notation.
Words globalName(std::string_view name);

/// One argument as words: what has a spelling, `spelled(argument)`, by that.
template <typename Argument>
Words wordsOf(const Argument& argument) {
  if constexpr (std::convertible_to<const Argument&, Words>)
    return argument;
  else if constexpr (requires { spelled(argument); })
    return spelled(argument);
  else
    return fmt::format("{}", argument);
}

/// A format with as many `{}` as there are arguments, which the compiler counts.
template <size_t Count>
struct WordsFormat {
  template <typename Text>
  consteval WordsFormat(const Text& given) : text(given) {
    size_t found = 0;
    for (size_t i = 0; i + 1 < text.size(); ++i) {
      bool isBrace = text[i] == text[i + 1] && (text[i] == '{' || text[i] == '}');
      found += text[i] == '{' && text[i + 1] == '}' ? 1 : 0;
      i += isBrace ? 1 : 0;
    }
    if (found != Count)
      throw "as many arguments are needed as the format has `{}`";
  }

  std::string_view text;
};

/// Words in place of each `{}` of a format: texts and numbers, other words, and what `spelled` is
/// there for, such as types.
template <typename... Arguments>
Words words(WordsFormat<sizeof...(Arguments)> format, const Arguments&... arguments) {
  return filled(format.text, {wordsOf(arguments)...});
}

} // namespace runtime
