// The uses of a function are followed backwards, through functions of the prelude to the program.
#include "driver/session/user_places.h"

#include "lang/ir/walk.h"
#include "lang/source/utf8.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace driver {

using lang::Diagnostic;
using lang::Global;
using lang::SourceRange;

namespace {

/// A place in the function `user` where another one is named.
struct Use {
  const Global* user;
  SourceRange range;
};

class UserPlaces {
public:
  UserPlaces(const lang::Module& module, const lang::SourceFile& source)
      : module_(module), source_(source) {
    for (const Global* user : module.globals)
      if (user->function)
        lang::walk(
            *user->function->body, [](const lang::Binding&) {},
            [&](const lang::Operand& operand) {
              if (const auto* used = operand.value->as<Global>())
                uses_.emplace(used, Use{user, operand.range});
            });
  }

  void move(Diagnostic& finding) const {
    constexpr size_t mostLabels = 3;
    const Global* global = source_.contains(finding.range) ? nullptr : around(finding.range);
    std::vector<SourceRange> places = global ? placesOf(*global) : std::vector<SourceRange>{};
    if (places.empty())
      return;
    finding.label(finding.range,
                  lang::words("in `{}`", lang::globalName(lang::printable(global->name))));
    finding.range = places[0];
    for (size_t i = 1; i < places.size() && i <= mostLabels; ++i)
      finding.label(places[i], "or from here");
  }

private:
  const Global* around(SourceRange range) const {
    for (const Global* global : module_.globals)
      if (global->function && global->function->range.begin <= range.begin &&
          range.end <= global->function->range.end)
        return global;
    return nullptr;
  }

  /// The uses in the program that lead to a function, in the order of the text.
  std::vector<SourceRange> placesOf(const Global& global) const {
    std::vector<SourceRange> places;
    std::vector<const Global*> reached{&global};
    std::unordered_set<const Global*> seen{&global};
    for (size_t i = 0; i < reached.size(); ++i) {
      auto [first, last] = uses_.equal_range(reached[i]);
      for (; first != last; ++first)
        if (const Use& use = first->second; source_.contains(use.range))
          places.push_back(use.range);
        else if (seen.insert(use.user).second)
          reached.push_back(use.user);
    }
    std::ranges::sort(places, {}, &SourceRange::begin);
    return places;
  }

  const lang::Module& module_;
  const lang::SourceFile& source_;
  std::unordered_multimap<const Global*, Use> uses_;
};

} // namespace

void placeInProgram(lang::Diagnostics& findings, const lang::Module& module,
                    const lang::SourceFile& source) {
  UserPlaces places(module, source);
  for (Diagnostic& finding : findings.all())
    places.move(finding);
}

} // namespace driver
