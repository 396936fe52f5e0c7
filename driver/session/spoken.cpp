// Findings are made of words before it is known in which notation they are shown, so the code in
// them is translated piece by piece. What is no name and no type stays as it is.
#include "driver/session/spoken.h"

#include "driver/values/files.h"
#include "lang/types/short_names.h"

#include <algorithm>
#include <cctype>

namespace driver {

namespace {

bool isLetter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

class Translation {
public:
  explicit Translation(std::string_view code) : code_(code) {}

  std::string text() {
    while (at_ < code_.size())
      step();
    return std::move(out_);
  }

private:
  std::string_view rest() const { return code_.substr(at_); }
  bool isWordStart() const { return at_ == 0 || !isLetter(code_[at_ - 1]); }

  void step() {
    char c = code_[at_];
    bool isSigil = (c == '%' || c == '@') && at_ + 1 < code_.size() && isLetter(code_[at_ + 1]) &&
                   isWordStart();
    if (isSigil)
      ++at_;
    else if (isWordStart() && rest().starts_with("Tensor[("))
      tensor();
    else if (isWordStart() && isLetter(c))
      word();
    else if (auto dtype = c == '"' ? quotedDType() : std::nullopt)
      out_ += *dtype;
    else
      out_ += code_[at_++];
  }

  /// `Tensor[(3, n), float32]`.
  void tensor() {
    constexpr std::string_view opening = "Tensor[(";
    size_t depth = 1, end = at_ + opening.size();
    for (; end < code_.size() && depth > 0; ++end)
      depth += code_[end] == '(' ? 1 : code_[end] == ')' ? size_t(-1) : 0;
    size_t close = code_.find(']', end);
    if (depth > 0 || close == std::string_view::npos || !code_.substr(end).starts_with(", ")) {
      out_ += code_[at_++];
      return;
    }
    std::string_view shape = code_.substr(at_ + opening.size(), end - 1 - at_ - opening.size());
    if (shape.ends_with(','))
      shape.remove_suffix(1);
    out_ += brief(code_.substr(end + 2, close - end - 2)) + "[" + std::string(shape) + "]";
    at_ = close + 1;
  }

  /// The element type between the quotes here, which stands without them.
  std::optional<std::string> quotedDType() {
    size_t end = code_.find('"', at_ + 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    auto dtype = runtime::parseDType(code_.substr(at_ + 1, end - at_ - 1));
    if (!dtype)
      return std::nullopt;
    at_ = end + 1;
    return lang::shortDTypeName(*dtype);
  }

  /// A name, or an element type; a data type without arguments has no brackets.
  void word() {
    size_t end = at_;
    while (end < code_.size() && isLetter(code_[end]))
      ++end;
    out_ += brief(code_.substr(at_, end - at_));
    at_ = end;
    // What is imported, in the module `optim/adam`.
    if (rest().size() > 1 && rest()[0] == '/' && isLetter(rest()[1]) && !isDigit(rest()[1])) {
      out_ += '.';
      ++at_;
    }
    if (rest().starts_with("[]"))
      at_ += 2;
  }

  static std::string brief(std::string_view word) {
    if (auto dtype = runtime::parseDType(word))
      return lang::shortDTypeName(*dtype);
    return std::string(word == "True" ? "true" : word == "False" ? "false" : word);
  }

  std::string_view code_;
  std::string out_;
  size_t at_ = 0;
};

} // namespace

/// Words with what stands between backquotes translated, where it is code.
static std::string spoken(std::string_view words, bool (*isCode)(std::string_view)) {
  std::string spoken;
  while (!words.empty()) {
    size_t open = std::min(words.find('`'), words.size());
    spoken += words.substr(0, open);
    words.remove_prefix(open);
    if (words.empty())
      break;
    size_t close = words.find('`', 1);
    if (close == std::string_view::npos)
      return spoken + std::string(words);
    const std::string_view quoted = words.substr(1, close - 1);
    spoken += "`" + (isCode(quoted) ? Translation(quoted).text() : std::string(quoted)) + "`";
    words.remove_prefix(close + 1);
  }
  return spoken;
}

std::string spokenBare(std::string_view words) {
  return spoken(words, [](std::string_view) { return true; });
}

/// Whether a text is a name of Relay's, a type or one word, and not the name of a file or a key.
static bool isNoFile(std::string_view text) {
  const bool isType = text.find_first_of("[(") != std::string_view::npos && !isValueFile(text);
  return text.starts_with('%') || text.starts_with('@') || isType ||
         std::ranges::all_of(text, isLetter);
}

std::string codeBare(std::string_view code) {
  return Translation(code).text();
}

std::string inNotation(const Program& program, std::string code) {
  return program.isBare() ? Translation(code).text() : code;
}

std::string inNotationOf(const Program& program, std::string words) {
  return program.isBare() ? spoken(words, isNoFile) : words;
}

/// What the reader of the notation says is in it already, with words of the text.
static bool isOfReader(const lang::Diagnostic& finding) {
  return finding.message < lang::Message::UnknownLocal;
}

void suggestBare(lang::Diagnostics& findings) {
  for (lang::Diagnostic& finding : findings.all())
    if (!isOfReader(finding))
      for (lang::Suggestion& suggestion : finding.suggestions)
        for (lang::Edit& edit : suggestion.edits)
          edit.text = Translation(edit.text).text();
}

void speakBare(lang::Diagnostics& findings) {
  for (lang::Diagnostic& finding : findings.all()) {
    if (isOfReader(finding))
      continue;
    finding.text = spokenBare(finding.text);
    for (lang::Label& label : finding.labels)
      label.text = spokenBare(label.text);
    for (std::string& note : finding.notes) {
      // The partial match is Relay's alone.
      if (size_t partial = note.find("; `match?`"); partial != std::string::npos)
        note.resize(partial);
      note = spokenBare(note);
    }
    for (runtime::ShapeRow& row : finding.shapes.rows)
      for (std::string* code : {&row.name, &row.dtype, &row.origin})
        *code = Translation(*code).text();
  }
}

} // namespace driver
