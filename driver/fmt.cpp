// `baton fmt`: programs in their canonical layout. What was laid out is read again before it
// replaces anything: if it is not the same program, that is a fault of Baton.
#include "driver/commands.h"

#include "driver/session/load.h"
#include "lang/source/utf8.h"
#include "parser/baton/parse.h"
#include "parser/format/format.h"
#include "parser/relay/parse.h"
#include "runtime/formats/file.h"
#include "runtime/words.h"

#include <fmt/format.h>

namespace driver {

namespace {

using parser::surface::Notation;

/// What a text is called where places in it are told. One from standard input is in Baton's
/// notation, unless it has Relay's header or somebody says otherwise.
std::string nameOf(const FmtOptions& options, const std::string& path) {
  return path == "-" && options.notation != "relay" ? "<stdin>.baton" : sourceName(path);
}

bool isRead(Session& session, const lang::SourceFile& source, Notation notation) {
  runtime::Arena trees;
  lang::Diagnostics findings;
  const auto* tree = notation == Notation::Baton
                         ? parser::baton::parseText(trees, source, findings)
                         : parser::parseText(trees, source, findings, &session.operators());
  return tree && !findings.hasErrors();
}

/// What is wrong with a text that was laid out; empty where it is the same program.
std::string wrongLayout(Session& session, const parser::format::Tokens& before,
                        const lang::SourceFile& after) {
  parser::format::Difference found = parser::format::difference(before, after);
  if (!found.text.empty() || found.sameCommas || isRead(session, after, before.notation))
    return found.text;
  return "it cannot be read any more";
}

/// The text of a file laid out; nothing where it is wrong, which the answer tells.
std::optional<std::string> laidOut(Session& session, const std::string& name,
                                   const std::string& text, const Look& look, Answer& answer) {
  const lang::SourceFile* source = session.addText(name, text);
  if (!source) {
    answer.fail(ExitCode::World, "the texts of one run can have at most 2 GiB together");
    return std::nullopt;
  }
  Notation notation = runtime::notationOf(source->name(), source->text());
  if (!isRead(session, *source, notation)) {
    auto program = session.loadText(name, text, Stage::Resolved);
    answer.code = std::max(answer.code, ExitCode::Program);
    if (program)
      answer.errors += findingsText(session, program->diagnostics, name, look);
    return std::nullopt;
  }
  parser::format::LaidOut result = parser::format::layOut(*source, notation);
  if (result.text == text)
    return text;
  const lang::SourceFile* after = session.addText(name, result.text);
  std::string wrong = after ? wrongLayout(session, result.tokens, *after) : "it is too long";
  if (wrong.empty())
    return result.text;
  answer.fail(ExitCode::Fault,
              fmt::format("this is a fault of Baton: the layout of {} changes the program: {}; "
                          "the file stays as it is",
                          lang::printable(name), wrong));
  return std::nullopt;
}

void layOutFile(Session& session, Input input, const FmtOptions& options, const Look& look,
                Answer& answer) {
  const std::string path = input.path();
  if (input.isExecutable())
    return answer.fail(ExitCode::World, input.quoted() + " is an executable and no program");
  auto text = input.read();
  if (!text)
    return answer.fail(ExitCode::World, text.failure().message);
  auto result =
      laidOut(session, nameOf(options, path), lang::withoutByteOrderMark(*text), look, answer);
  if (!result)
    return;
  if (path == "-" && !options.checks) {
    answer.output += *result;
  } else if (options.checks && *result != *text) {
    answer.code = std::max(answer.code, ExitCode::Program);
    answer.output += lang::printable(sourceName(path)) + ": would be laid out anew\n";
  } else if (*result != *text) {
    auto written = formats::writeFile(path, *result);
    if (!written)
      answer.fail(ExitCode::World, written.failure().message);
  }
}

} // namespace

Answer layOut(Session& session, const FmtOptions& options, const Look& look) {
  Answer answer;
  for (const std::string& path : options.files)
    layOutFile(session, path, options, look, answer);
  return answer;
}

} // namespace driver
