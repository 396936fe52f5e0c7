// What Baton tells people about their programs: structured, collected, never thrown.
//
// Every message is one line of diagnostics.def; code names the message and gives its arguments.
// Text is made when the diagnostic is shown (render.h), in the notation of the file.
#pragma once

#include "lang/source/source.h"
#include "runtime/run_fault.h"

#include <fmt/format.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lang {

enum class Severity : uint8_t { Error, Warning };

/// Names a message of diagnostics.def.
enum class Message : uint16_t {
#define DIAGNOSTIC(name, code, severity, text) name,
#include "lang/source/diagnostics.def"
#undef DIAGNOSTIC
};

/// One line of the table.
struct MessageRow {
  std::string_view code;
  Severity severity;
  std::string_view text;
};

const MessageRow& messageRow(Message message);
/// The whole table, in the order of Message.
std::span<const MessageRow> messageRows();

using runtime::Label;
using runtime::ShapeRow;
using runtime::ShapeTable;

/// One replacement in a text; an empty range puts something in, an empty text leaves something out.
struct Edit {
  SourceRange range;
  Words text;
  /// Where it is valid, the new text is what stands there.
  SourceRange copied = {};
};

/// A change to a program in words, in which `{}` stands for the new code, and as edits.
///
/// Who reports suggests what may help; `baton` applies the edits, checks what comes out, and shows
/// what removes the finding without a new error (driver/session/suggestions.h).
struct Suggestion {
  Words text;
  std::vector<Edit> edits;
  /// What is shown of the changed text beside the edits.
  SourceRange shown = {};
  /// True when it is of no interest once one of those before it helps.
  bool isFallback = false;
  /// True when it is worth a note even if it does not help, since its place is right with it.
  bool isFact = false;
};

/// One finding, with its place, further places, notes, and changes that may mend it.
struct Diagnostic {
  Message message;
  SourceRange range;
  Words text;
  std::vector<Label> labels;
  std::vector<Words> notes;
  std::vector<Suggestion> suggestions;
  ShapeTable shapes = {};

  Severity severity() const { return messageRow(message).severity; }
  Diagnostic& label(SourceRange where, Words what) {
    labels.push_back({where, std::move(what)});
    return *this;
  }
  Diagnostic& note(Words what) {
    notes.push_back(std::move(what));
    return *this;
  }
  Diagnostic& suggest(Suggestion change) {
    suggestions.push_back(std::move(change));
    return *this;
  }
};

/// Collects findings. Past `maximumErrors` errors, and for a second error at the same place, it
/// keeps silent but goes on counting.
class Diagnostics {
public:
  static constexpr size_t maximumErrors = 100;

  /// Reports a finding; the arguments fill the `{}` of the message's text. The reference is good
  /// until the next report.
  template <typename... Args>
  Diagnostic& report(Message message, SourceRange range, const Args&... args) {
    return add(message, range,
               runtime::filled(messageRow(message).text, {runtime::wordsOf(args)...}));
  }

  /// Adds findings that were made before.
  void append(const Diagnostics& others);

  /// Keeps silent about a warning from here on; errors cannot be silenced.
  void silence(Message warning) { silenced_.push_back(warning); }

  bool hasErrors() const { return errors_ > 0; }
  size_t errorCount() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return items_; }
  std::span<Diagnostic> all() { return items_; }
  /// Forgets the warnings behind the first `kept` findings.
  void dropWarnings(size_t kept);
  /// Puts findings in the order of the text.
  void sortByPlace();

private:
  Diagnostic& add(Message message, SourceRange range, Words text);

  std::vector<Diagnostic> items_;
  std::vector<Message> silenced_;
  Diagnostic discarded_{};
  size_t errors_ = 0;
};

} // namespace lang
