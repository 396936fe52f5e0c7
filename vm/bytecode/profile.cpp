// Subjects are told apart by name and place.
#include "vm/bytecode/profile.h"

#include "lang/source/utf8.h"
#include "lang/source/way_back.h"

#include <map>

namespace bytecode {

using vm::SiteKind;

namespace {

std::string_view checkName(SiteKind kind) {
  switch (kind) {
  case SiteKind::Show:
    return "(value shown)";
  case SiteKind::Unmatched:
    return "(no arm)";
  case SiteKind::Deliver:
    return "(results into tensors)";
  case SiteKind::Unbox:
    return "(condition)";
  default:
    return "(sizes compared)";
  }
}

std::string siteName(const vm::Program& program, const vm::HostSite& site) {
  return site.op == checks::none ? std::string(checkName(site.kind)) : program.operators[site.op];
}

} // namespace

Profiler::Profiler(const vm::Program& program, profile::Recorder& recorder, const Texts& texts)
    : recorder_(recorder) {
  std::map<std::pair<std::string, std::string>, uint32_t> known;
  auto subject = [&](const std::string& name, runtime::SourceRange range, bool isFunction,
                     bool isBack) {
    profile::Subject made{lang::printable(name) + (isBack ? ", way back" : ""), texts.place(range),
                          isFunction, isBack};
    auto [found, isNew] = known.try_emplace({made.name, made.place});
    if (isNew)
      found->second = recorder.add(std::move(made));
    return found->second;
  };
  functionsAt_.resize(program.code.size());
  for (const vm::Function& function : program.functions) {
    bool isBack = function.isClosure && lang::isOnWayBack(function.range);
    functionsAt_[function.start] =
        subject(texts.function ? texts.function(function.name, function.range) : function.name,
                function.range, true, isBack);
  }
  for (const vm::HostSite& site : program.sites)
    sites_.push_back(
        subject(siteName(program, site), site.range, false, lang::isOnWayBack(site.range)));
  observer_.entered = [this](uint32_t start, bool isTail) {
    isTail ? recorder_.replace(functionsAt_[start]) : recorder_.enter(functionsAt_[start]);
  };
  observer_.left = [this] { recorder_.leave(); };
  observer_.asked = [this](uint32_t site) { recorder_.enter(sites_[site]); };
  observer_.answered = observer_.left;
}

} // namespace bytecode
