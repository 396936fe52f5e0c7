// The first time that a pass is run its label is its name, so `inlining` is `inlining:1`.
#include "driver/session/shown_passes.h"

#include "driver/session/derive.h"
#include "lang/print/print.h"
#include "lang/source/edit_distance.h"
#include "parser/metadata/metadata.h"
#include "runtime/formats/quote.h"
#include "transform/passes.h"

#include <algorithm>

#include <fmt/format.h>

namespace driver {

namespace {

/// What stands for every pass; in this form, since an operator has the same name, which no file
/// here may know.
constexpr std::string_view everyPass = R"(all)";
constexpr std::string_view firstRun = ":1";

/// The elements of tensors that are literals in what passes give.
constexpr int64_t mostInLiteral = 32;

std::string labelOf(std::string name) {
  if (name.ends_with(firstRun))
    name.resize(name.size() - firstRun.size());
  return name;
}

/// Whether there is a pass or another step of that name, which may have a number behind it.
bool isShowable(std::string_view label, Answer& answer) {
  std::string_view name = label.substr(0, label.find(':'));
  return std::ranges::count(steps::names, name) > 0 || isPass(name, answer);
}

} // namespace

std::string passedText(const Session& session, const lang::Module& module) {
  return parser::wholeText(
      lang::printModule(module, session.operators(), {.mostInLiteral = mostInLiteral}));
}

bool isPass(std::string_view name, Answer& answer) {
  if (transform::findPass(name))
    return true;
  std::vector<std::string_view> names;
  for (const transform::PassRow& row : transform::passRows())
    names.push_back(row.name);
  auto similar = lang::similarNames(name, names);
  answer.fail(ExitCode::World,
              fmt::format("there is no pass {}; {}", formats::backquoted(name),
                          similar.empty() ? fmt::format("the passes are {}", fmt::join(names, ", "))
                                          : fmt::format("did you mean `{}`?", similar[0])));
  return false;
}

namespace {

bool isSkippable(std::string_view name, Answer& answer) {
  if (transform::isOptional(name))
    return true;
  std::vector<std::string_view> names;
  for (const transform::Step& step : transform::machinePipeline.steps)
    names.push_back(step.pass);
  answer.fail(ExitCode::World,
              fmt::format("the pass `{}` cannot be left out; those that can are {}", name,
                          fmt::join(names, ", ")));
  return false;
}

} // namespace

std::string PassCounter::label(std::string_view pass) {
  size_t number = ++counts_[std::string(pass)];
  return number == 1 ? std::string(pass) : fmt::format("{}:{}", pass, number);
}

size_t PassCounter::count(std::string_view pass) const {
  auto found = counts_.find(pass);
  return found == counts_.end() ? 0 : found->second;
}

ShownPasses::ShownPasses(Session& session, const PassView& view, Answer& answer)
    : session_(session), view_(view), answer_(answer) {
  for (const std::string& name : view.printAfter)
    if (name != everyPass)
      isGood_ &= isShowable(name, answer);
  if (!view.stopAfter.empty())
    isGood_ &= isShowable(view.stopAfter, answer);
  for (const std::string& name : view.skipped)
    isGood_ &= isPass(name, answer) && isSkippable(name, answer);
  session.watchPasses({[this](std::string_view pass, const lang::Module& module,
                              const lang::Typing&) { after(pass, module); },
                       {},
                       view.verify,
                       view.skipped});
}

ShownPasses::~ShownPasses() {
  session_.watchPasses({});
}

void ShownPasses::after(std::string_view pass, const lang::Module& module) {
  const std::string& label = seen_.emplace_back(counter_.label(pass));
  auto isShown = [&](const std::string& name) {
    return name == everyPass || labelOf(name) == label;
  };
  if (labelOf(view_.stopAfter) == label) {
    answer_.output += passedText(session_, module);
    throw StoppedAfterPass{};
  }
  if (std::ranges::any_of(view_.printAfter, isShown))
    answer_.errors += fmt::format("// after {}\n{}", label, passedText(session_, module));
}

void ShownPasses::demandSeen(std::string_view option, const std::string& name) {
  if (name.empty() || name == everyPass || std::ranges::count(seen_, labelOf(name)) > 0)
    return;
  std::string_view pass = std::string_view(name).substr(0, name.find(':'));
  size_t count = counter_.count(pass);
  isGood_ = false;
  answer_.fail(ExitCode::World,
               count > 0 ? fmt::format("`{}` names `{}`, and `{}` runs {} here", option, name, pass,
                                       count == 1 ? "once" : fmt::format("{} times", count))
               : seen_.empty()
                   ? fmt::format("`{}` names `{}`, and no pass runs here", option, name)
                   : fmt::format("`{}` names `{}`, which does not run here; the passes are {}",
                                 option, name, fmt::join(seen_, ", ")));
}

bool ShownPasses::end() {
  for (const std::string& name : view_.printAfter)
    demandSeen("--print-after", name);
  demandSeen("--stop-after", view_.stopAfter);
  return isGood_;
}

} // namespace driver
