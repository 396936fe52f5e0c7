// Names of functions from the command line.
#include "driver/session/find_global.h"

#include "lang/source/edit_distance.h"
#include "lang/source/utf8.h"
#include "runtime/formats/quote.h"

#include <fmt/format.h>

namespace driver {

const lang::Global* findGlobal(const Program& program, std::string_view name,
                               std::string_view option, Answer& answer, ExitCode reason) {
  const lang::Module& module = *program.module;
  if (name.starts_with('@'))
    name.remove_prefix(1);
  if (const lang::Global* entry = module.find(name))
    return entry;
  std::vector<std::string_view> names;
  for (size_t i = module.preludeGlobals; i < module.globals.size(); ++i)
    if (module.globals[i]->function)
      names.push_back(module.globals[i]->name);
  std::string advice = "; the program defines no functions";
  if (auto similar = lang::similarNames(name, names); !similar.empty())
    advice = fmt::format("; did you mean `{} {}`?", option, lang::printable(similar[0]));
  else if (std::string gradient = fmt::format("{}_grad", name); module.find(gradient))
    advice = fmt::format("; call its gradient with `{} {}`", option, lang::printable(gradient));
  else if (!names.empty())
    advice = fmt::format("; choose another with `{} {}`", option, lang::printable(names[0]));
  answer.fail(reason,
              fmt::format("there is no function {}{}",
                          formats::backquoted(lang::globalName(name).in(program.notation())),
                          advice));
  return nullptr;
}

} // namespace driver
