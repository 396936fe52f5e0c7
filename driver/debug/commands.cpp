// The commands of `baton debug`, one row and one function each.
#include "driver/debug/debugger.h"
#include "driver/debug/place_text.h"
#include "driver/values/text.h"
#include "lang/source/edit_distance.h"
#include "runtime/formats/quote.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace driver {

using runtime::Value;

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  size_t end = text.find_last_not_of(blanks);
  return text.substr(begin, end == text.npos ? 0 : end + 1 - begin);
}

std::optional<uint32_t> readNumber(std::string_view text) {
  uint32_t number = 0;
  auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isGood = end.ec == std::errc() && end.ptr == text.data() + text.size() && !text.empty();
  return isGood ? std::optional(number) : std::nullopt;
}

/// Whether fields or rows follow a name there.
bool isPath(std::string_view text) {
  auto isInside = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_.[]:, ").find(c) != std::string_view::npos;
  };
  return (text[0] == '.' || text[0] == '[') && std::ranges::all_of(text, isInside);
}

/// Whether a text is the name of a variable, maybe with fields or rows behind it.
bool isVariable(std::string_view text) {
  size_t end = 0;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
    ++end;
  return end > 0 && (end == text.size() || isPath(text.substr(end)));
}

} // namespace

const std::vector<Debugger::Command>& Debugger::commands() {
  using D = Debugger;
  static const std::vector<Command> all = {
      {"break", "b", "PLACE",
       "stop at LINE, FILE:LINE, %variable or @function, or `on nan`; PLACE if EXPR: only where it "
       "holds",
       &D::addBreakpoint},
      {"delete", "d", "[NUMBER]", "remove a breakpoint, or all", &D::removeBreakpoint},
      {"breakpoints", "i", "", "list the breakpoints", &D::listBreakpoints},
      {"run", "r", "", "start the program, from the beginning if it runs already", &D::start},
      {"continue", "c", "", "go on to a breakpoint, a fault or the end", &D::goOn},
      {"step", "s", "", "go on to the next expression, also of a function that is called",
       &D::step},
      {"next", "n", "", "go on to the next expression of this call", &D::stepOver},
      {"finish", "f", "", "go on until this call has its result", &D::finish},
      {"print", "p", "[EXPR]",
       "show a variable, a part of it, as %x.0 or %x[2, 0:3], or what an expression gives; or all "
       "variables in short",
       &D::print},
      {"backtrace", "bt", "", "list the open calls, innermost first", &D::backtrace},
      {"frame", "fr", "NUMBER", "look at another open call", &D::select},
      {"up", "u", "", "look at the caller", &D::selectOuter},
      {"down", "do", "", "look at what it called", &D::selectInner},
      {"list", "l", "[LINE]", "show the text around a line, or more of it", &D::list},
      {"dump", "w", "PATH", "write the variables of all open calls to an .npz", &D::dump},
      {"record", "rec", "PATH", "write all values that are computed from here on to an .npz",
       &D::recordTo},
      {"help", "h", "", "list the commands", &D::help},
      {"quit", "q", "", "end", &D::quit}};
  return all;
}

void Debugger::answerCommands() {
  goesOn_ = false;
  while (!goesOn_) {
    std::optional<std::string> line = look_.ask ? look_.ask() : std::nullopt;
    line ? answer(trimmed(*line)) : quit("");
  }
}

void Debugger::answer(std::string_view line) {
  if (line.empty())
    line = repeated_;
  size_t space = std::min(line.find(' '), line.size());
  std::string_view word = line.substr(0, space), operand = trimmed(line.substr(space));
  if (word.empty())
    return;
  auto found = std::ranges::find_if(commands(), [&](const Command& command) {
    return command.name == word || command.brief == word;
  });
  if (found == commands().end()) {
    std::vector<std::string_view> names;
    for (const Command& command : commands())
      names.push_back(command.name);
    auto similar = lang::similarNames(word, names);
    return refuse(fmt::format("there is no command {}; {}", formats::backquoted(word),
                              similar.empty() ? "`help` lists them"
                                              : fmt::format("did you mean `{}`?", similar[0])));
  }
  bool needs = !found->operand.empty() && found->operand[0] != '[';
  if (found->operand.empty() ? !operand.empty() : needs && operand.empty())
    return refuse(fmt::format("it is `{}{}{}`", found->name, needs ? " " : "", found->operand));
  (this->*found->function)(operand);
  repeated_ = goesOn_ && until_ != Until::Breakpoint ? std::string(found->name) : "";
}

void Debugger::refuse(const std::string& problem) {
  tell_("error: " + problem + '\n');
}

void Debugger::addBreakpoint(std::string_view where) {
  constexpr std::string_view word = " if ";
  size_t split = std::min(where.find(word), where.size());
  std::string_view condition = trimmed(where.substr(std::min(split + word.size(), where.size())));
  if (!condition.empty())
    if (auto read = evaluator_.read(condition); !read)
      return tell_(read.failure().message);
  if (auto point = breakpoints_.add(trimmed(where.substr(0, split)), condition))
    tell_(fmt::format("breakpoint {} at {}\n", (*point)->number, (*point)->text));
  else
    refuse(point.failure().message);
}

void Debugger::removeBreakpoint(std::string_view number) {
  if (number.empty())
    return breakpoints_.clear();
  auto read = readNumber(number);
  if (!read || !breakpoints_.remove(*read))
    refuse(fmt::format("there is no breakpoint {}", formats::backquoted(number)));
}

void Debugger::listBreakpoints(std::string_view) {
  if (breakpoints_.all().empty())
    tell_("there are no breakpoints\n");
  for (const Breakpoint& point : breakpoints_.all())
    tell_(fmt::format("{} at {}\n", point.number, point.text));
}

// Going on.

/// Says so if it does not.
bool Debugger::isRunning() {
  if (!state_)
    refuse("the program does not run; `run` or `step` starts it");
  return state_ != nullptr;
}

void Debugger::resume(Until until) {
  if (hasFailed_)
    return refuse("the run has failed here; `run` starts it again");
  until_ = until;
  goesOn_ = true;
  wantsStart_ = state_ == nullptr;
  watch_.emplace();
}

void Debugger::start(std::string_view) {
  until_ = Until::Breakpoint;
  goesOn_ = wantsStart_ = true;
}

void Debugger::goOn(std::string_view) {
  if (isRunning())
    resume(Until::Breakpoint);
}

void Debugger::step(std::string_view) {
  resume(Until::AnyBinding);
}

void Debugger::stepOver(std::string_view) {
  resume(state_ ? Until::SameCall : Until::AnyBinding);
}

void Debugger::finish(std::string_view) {
  if (isRunning())
    resume(Until::Caller);
}

void Debugger::quit(std::string_view) {
  goesOn_ = wantsEnd_ = true;
}

// Looking.

/// The open calls; none, and an error, when the program does not run. A run that had no memory left
/// has given up what it had.
std::vector<OpenCall> Debugger::calls() {
  if (!isRunning())
    return {};
  std::vector<OpenCall> open = openCalls(*state_);
  if (open.empty())
    refuse("memory ran out, so nothing is left of the run to look at");
  return open;
}

std::optional<OpenCall> Debugger::selectedCall() {
  std::vector<OpenCall> open = calls();
  return open.empty() ? std::nullopt : std::optional(open[std::min(selected_, open.size() - 1)]);
}

std::string Debugger::callText(size_t number, const OpenCall& call) const {
  return fmt::format("#{} {} at {}\n", number, names_.of(*call.activation->function),
                     at(call.place));
}

void Debugger::backtrace(std::string_view) {
  constexpr size_t mostInner = 20, mostOuter = 3;
  std::vector<OpenCall> open = calls();
  for (size_t i = 0; i < open.size(); ++i) {
    if (i == mostInner && open.size() > mostInner + mostOuter + 1) {
      tell_(fmt::format("... {} more\n", open.size() - mostInner - mostOuter));
      i = open.size() - mostOuter;
    }
    tell_(callText(i, open[i]));
  }
}

void Debugger::showSelected() {
  if (auto call = selectedCall())
    tell_(callText(selected_, *call) + markedLine(session_.sources(), call->place));
}

void Debugger::select(std::string_view number) {
  std::vector<OpenCall> open = calls();
  auto read = readNumber(number);
  if (open.empty())
    return;
  if (!read || *read >= open.size())
    return refuse(fmt::format("there is no open call {}; the outermost is {}",
                              formats::backquoted(number), open.size() - 1));
  selected_ = *read;
  listed_ = 0;
  showSelected();
}

void Debugger::selectOuter(std::string_view) {
  if (state_ && selected_ + 1 >= state_->activations.size())
    return refuse("this is the outermost call");
  select(std::to_string(selected_ + 1));
}

void Debugger::selectInner(std::string_view) {
  if (state_ && selected_ == 0)
    return refuse("this is the innermost call");
  select(std::to_string(selected_ - 1));
}

std::vector<Local> Debugger::shownLocals(const OpenCall& call) const {
  std::vector<Local> locals = localsOf(*state_, call);
  std::erase_if(locals, [&](const Local& local) { return code_.isHidden(*local.var); });
  return locals;
}

void Debugger::printAll() {
  constexpr size_t most = 100;
  auto call = selectedCall();
  if (!call)
    return;
  std::vector<Local> locals = shownLocals(*call);
  if (locals.empty())
    tell_("no variable has a value yet\n");
  for (size_t i = 0; i < std::min(locals.size(), most); ++i)
    tell_(valueLine(*locals[i].var, *locals[i].value));
  if (locals.size() > most)
    tell_(fmt::format("... {} more\n", locals.size() - most));
}

/// What is listed under that text; the variable that the name means here, or else one whose block
/// has ended, or a part of it, to which leads what stands behind the name; or else an expression.
void Debugger::print(std::string_view what) {
  if (what.empty())
    return printAll();
  auto call = selectedCall();
  if (!call)
    return;
  const std::string wanted =
      what.starts_with('%') || !isVariable(what) ? std::string(what) : "%" + std::string(what);
  const Local* found = nullptr;
  std::pair<size_t, size_t> best;
  std::vector<Local> locals = shownLocals(*call);
  std::vector<std::string_view> names;
  for (const Local& local : locals) {
    const std::string& name = names_.of(*local.var);
    names.push_back(name);
    std::pair rank(name.size(), local.nearness);
    bool fits =
        wanted.starts_with(name) && rank >= best &&
        (wanted.size() == name.size() ||
         (names_.isNamed(*local.var) && isPath(std::string_view(wanted).substr(name.size()))));
    if (fits) {
      found = &local;
      best = rank;
    }
  }
  if (found)
    return printPart(*found, wanted, std::string_view(wanted).substr(best.first));
  if (!isVariable(std::string_view(wanted).substr(1)))
    return printExpression(what, locals);
  auto similar = lang::similarNames(wanted, names);
  refuse(fmt::format("no variable {} has a value here{}", formats::backquoted(wanted),
                     similar.empty() ? "" : fmt::format("; did you mean `{}`?", similar[0])));
}

void Debugger::printPart(const Local& local, std::string_view name, std::string_view path) {
  auto part = partOf(*local.value, path);
  if (!part)
    return refuse(part.failure().message);
  tell_(fmt::format("{} {} {}\n", name, names_.isNamed(*local.var) ? "=" : "->",
                    valueText(*part, session_.types(), program_.typing, {program_.isBare()})));
}

void Debugger::printExpression(std::string_view expression, const std::vector<Local>& locals) {
  auto text = evaluator_.text(expression, namedIn(expression, locals));
  tell_(text ? *text + '\n' : text.failure().message);
}

/// The nearest variables of the names that an expression mentions; others it has to bind itself.
std::vector<Named> Debugger::namedIn(std::string_view expression,
                                     const std::vector<Local>& locals) const {
  std::vector<Named> variables;
  for (std::string_view name : namesIn(expression)) {
    const Local* best = nullptr;
    for (const Local& local : locals)
      if (names_.isNamed(*local.var) && std::string_view(names_.of(*local.var)).substr(1) == name &&
          !code_.isHidden(*local.var) && (!best || local.nearness > best->nearness))
        best = &local;
    if (best && std::ranges::find(variables, name, &Named::name) == variables.end())
      variables.push_back({name, best->var, best->value});
  }
  return variables;
}

/// Goes on behind what was shown last.
void Debugger::list(std::string_view line) {
  constexpr uint32_t around = 5;
  const lang::SourceFile* file = program_.source;
  uint32_t current = 0;
  if (state_)
    if (auto call = selectedCall(); call && session_.sources().find(call->place)) {
      file = session_.sources().find(call->place);
      current = file->position(call->place.begin).line;
    }
  uint32_t first = listed_;
  if (!line.empty()) {
    auto read = readNumber(line);
    if (!read)
      return refuse(fmt::format("{} is no line", formats::backquoted(line)));
    first = *read > around ? *read - around : 1;
  } else if (listed_ == 0) {
    first = current > around ? current - around : 1;
  }
  std::string text = listedLines(*file, first, first + 2 * around, current);
  listed_ = text.empty() ? 0 : first + 2 * around + 1;
  tell_(text.empty() ? "the text ends before\n" : text);
}

// Files.

void Debugger::dump(std::string_view path) {
  constexpr size_t mostCalls = 1000;
  std::vector<OpenCall> open = calls();
  if (open.empty())
    return;
  TensorDump tensors;
  for (size_t i = 0; i < std::min(open.size(), mostCalls); ++i)
    for (const Local& local : shownLocals(open[i])) {
      const std::string& name = names_.of(*local.var);
      bool isNamed = names_.isNamed(*local.var);
      tensors.add(fmt::format("{}.{}", i, isNamed ? name.substr(1) : spanText(local.var->range)),
                  *local.value);
    }
  auto written = tensors.write(std::string(path));
  if (!written)
    return refuse(written.failure().message);
  tell_(*written + '\n');
  if (open.size() > mostCalls)
    tell_(fmt::format("these are the innermost {} calls of {}\n", mostCalls, open.size()));
}

void Debugger::recordTo(std::string_view path) {
  if (!path.ends_with(".npz"))
    return refuse(
        fmt::format("values go to .npz files, and {} is none", formats::backquoted(path)));
  writeRecord();
  record_ = Record{std::string(path)};
  tell_("values are written when the run ends\n");
}

void Debugger::help(std::string_view) {
  for (const Command& command : commands())
    tell_(fmt::format("{:<3} {:<21} {}\n", command.brief,
                      fmt::format("{} {}", command.name, command.operand), command.doc));
}

} // namespace driver
