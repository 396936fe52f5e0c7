// A line that no place is in is left empty, so that lines keep their numbers.
#include "driver/executable_file.h"

#include "driver/session/load.h"
#include "driver/session/pass_options.h"
#include "lang/print/print.h"
#include "lang/source/utf8.h"
#include "lang/source/way_back.h"
#include "parser/metadata/metadata.h"
#include "runtime/formats/quote.h"
#include "vm/assembly/text.h"
#include "vm/bytecode/export.h"
#include "vm/executable/ranges.h"

#include <map>
#include <set>

namespace driver {

namespace {

using lang::SourceFile;
using runtime::SourceRange;

/// The most lines that one place may keep; of a longer one the first line is kept.
constexpr uint32_t mostLines = 8;

/// The lines of texts that places are in.
class KeptLines {
public:
  explicit KeptLines(const lang::SourceMap& sources) : sources_(sources) {}

  /// Cuts a place to what is kept of it, and keeps that.
  void keep(SourceRange& range) {
    range = lang::inText(range);
    const SourceFile* file = sources_.find(range);
    if (!file)
      return;
    uint32_t first = file->position(range.begin).line, last = file->position(range.end).line;
    if (last - first >= mostLines) {
      last = first;
      range.end = endOf(*file, first);
    }
    for (uint32_t line = first; line <= last; ++line)
      lines_[file].insert(line);
  }

  /// The texts, whose address space begins at 1.
  std::vector<executable::SourceText> texts() {
    std::vector<executable::SourceText> texts;
    uint32_t base = 1;
    for (const auto& [file, lines] : lines_) {
      std::string text;
      for (uint32_t line = 1; line <= *lines.rbegin(); ++line) {
        if (lines.contains(line)) {
          starts_[{file, line}] = base + uint32_t(text.size());
          text += file->line(line);
        }
        text += '\n';
      }
      base += uint32_t(text.size()) + 1;
      texts.push_back({file->name(), std::move(text)});
    }
    return texts;
  }

  /// Where a place is in these texts.
  SourceRange moved(SourceRange range) const {
    const SourceFile* file = sources_.find(range);
    if (!file)
      return {};
    return {moved(*file, range.begin), moved(*file, range.end)};
  }

private:
  static uint32_t endOf(const SourceFile& file, uint32_t line) {
    std::string_view text = file.line(line);
    return file.base() + uint32_t(text.data() + text.size() - file.text().data());
  }

  uint32_t moved(const SourceFile& file, uint32_t offset) const {
    lang::LineColumn at = file.position(offset);
    return starts_.at({&file, at.line}) + at.column - 1;
  }

  const lang::SourceMap& sources_;
  std::map<const SourceFile*, std::set<uint32_t>> lines_;
  std::map<std::pair<const SourceFile*, uint32_t>, uint32_t> starts_;
};

/// Puts the texts into the session, and the places with them.
bool placeSources(executable::Executable& executable, Session& session) {
  struct Moved {
    uint32_t from, size, to;
  };
  std::vector<Moved> moves;
  uint32_t base = 1;
  for (const executable::SourceText& source : executable.sources) {
    const SourceFile* file = session.addText(source.name, source.text);
    if (!file)
      return false;
    moves.push_back({base, uint32_t(source.text.size()), file->base()});
    base += uint32_t(source.text.size()) + 1;
  }
  executable::forEachRange(executable, [&](SourceRange& range) {
    for (const Moved& each : moves)
      if (range.begin >= each.from && range.end >= range.begin &&
          range.end - each.from <= each.size) {
        range = {range.begin - each.from + each.to, range.end - each.from + each.to};
        return;
      }
    range = {};
  });
  return true;
}

/// The executable that a text stands for; null when it is wrong, which the answer says.
std::unique_ptr<executable::Executable> assembled(Session& session, const SourceFile& file,
                                                  const Input& input, const Look& look,
                                                  Answer& answer) {
  lang::Diagnostics findings;
  auto made = assembly::assemble(file, findings);
  answer.errors += findingsText(session, findings, input.path(), look);
  if (!made)
    answer.code = std::max(answer.code, ExitCode::Program);
  return made;
}

runtime::Result<std::unique_ptr<executable::Executable>> loaded(Input& input) {
  if (input.isRegular())
    return executable::load(input.path());
  auto bytes = input.read();
  if (!bytes)
    return bytes.failure();
  return executable::readCopy(std::as_bytes(std::span(*bytes)));
}

/// The executable in a file; null when the answer says what is wrong with it.
std::unique_ptr<executable::Executable> readExecutable(Session& session, Input& input,
                                                       const Look& look, Answer& answer) {
  auto failed = [&](const std::string& why) {
    answer.fail(ExitCode::World, fmt::format("cannot read {}: {}", input.quoted(), why));
    return nullptr;
  };
  if (input.kind() != Input::Kind::Assembly) {
    auto made = loaded(input);
    return made ? *std::move(made) : failed(made.failure().message);
  }
  auto text = input.read();
  if (!text)
    return failed(text.failure().message);
  const SourceFile* file = session.addText(sourceName(input.path()), *std::move(text));
  return file ? assembled(session, *file, input, look, answer) : failed("it is too long");
}

} // namespace

void keepSources(executable::Executable& executable, const lang::SourceMap& sources) {
  KeptLines kept(sources);
  executable::forEachRange(executable, [&](SourceRange& range) { kept.keep(range); });
  executable.sources = kept.texts();
  executable::forEachRange(executable, [&](SourceRange& range) { range = kept.moved(range); });
}

void prepareForMachine(Session& session, Program& program, transform::Entries entries,
                       bool keepsCalls) {
  lang::Diagnostics findings;
  transform::RunOptions options = passOptions(session, entries, findings);
  options.declaring = transform::Declaring::WhenNeeded;
  goOn(program, transform::runPasses(
                    *program.module, program.typing,
                    keepsCalls ? transform::countedPipeline : transform::machinePipeline, options));
}

executable::Executable makeExecutable(Session& session, ReadyProgram& ready) {
  const std::vector<std::string_view> names(ready.entries.begin(), ready.entries.end());
  prepareForMachine(session, ready.program, names);
  bytecode::Exported exported =
      bytecode::exportProgram(*ready.program.module, ready.program.typing, session.operators(),
                              transform::entriesOf(*ready.program.module, names));
  keepSources(exported.executable, session.sources());
  executable::Executable& made = exported.executable;
  made.language = parser::wholeText(lang::printModule(*exported.language, session.operators()));
  for (vm::Layout& layout : made.program.layouts)
    layout.symbol.name = made.names.emplace_front(layout.symbol.name);
  return std::move(made);
}

runtime::Checked<size_t> entryNumber(const executable::Executable& made,
                                     std::optional<std::string_view> said) {
  std::string_view name = said.value_or("main");
  if (name.starts_with('@'))
    name.remove_prefix(1);
  auto found = std::ranges::find(made.entries, name, &executable::Entry::name);
  if (found != made.entries.end())
    return size_t(found - made.entries.begin());
  if (!said && made.entries.size() == 1)
    return size_t(0);
  std::string names;
  for (const executable::Entry& entry : made.entries)
    names += fmt::format("{}`@{}`", names.empty() ? "" : ", ", lang::printable(entry.name));
  std::string advice =
      said ? fmt::format("another entry needs a compilation with `--entry {}`",
                         lang::printable(name))
           : fmt::format("choose one, such as `--entry {}`", lang::printable(made.entries[0].name));
  return runtime::Problem{fmt::format("the executable was compiled for {}; {}", names, advice)};
}

std::unique_ptr<executable::Executable> openExecutable(Session& session, Input& input,
                                                       std::span<const std::string> entries,
                                                       const Look& look, Answer& answer) {
  auto made = readExecutable(session, input, look, answer);
  if (!made || entries.empty())
    return made;
  std::vector<bool> isAsked(made->entries.size());
  for (const std::string& entry : entries) {
    auto number = entryNumber(*made, entry);
    if (!number) {
      answer.fail(ExitCode::World, number.failure().text);
      return nullptr;
    }
    isAsked[*number] = true;
  }
  auto other = std::ranges::find(isAsked, false);
  if (other == isAsked.end())
    return made;
  answer.fail(ExitCode::World,
              fmt::format("{} has `@{}` too, and an executable keeps all its entries; compile the "
                          "program for fewer",
                          input.quoted(),
                          lang::printable(made->entries[size_t(other - isAsked.begin())].name)));
  return nullptr;
}

runtime::Result<Loaded> linkExecutable(Session& session,
                                       std::unique_ptr<executable::Executable> executable,
                                       const std::string& path) {
  auto language = session.loadText(path, executable->language);
  if (!language)
    return language.failure();
  const runtime::Error wrong{"what it says of the language cannot be read"};
  if (!language->isGood() || !placeSources(*executable, session))
    return wrong;
  auto linked = bytecode::link(std::move(executable), *language->module, language->typing);
  if (!linked)
    return linked.failure();
  return Loaded{*std::move(language), *std::move(linked)};
}

} // namespace driver
