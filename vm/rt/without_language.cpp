// The machine alone: executables whose operators are all kernels or native functions.
#include "vm/rt/language.h"

namespace rt {

runtime::Result<Callable> callableOf(std::unique_ptr<executable::Executable> made) {
  if (std::string reason = executable::languageText(*made); !reason.empty())
    return runtime::Error{std::move(reason)};
  vm::Language language = executable::withoutLanguage(*made);
  return Callable{std::move(made), std::move(language)};
}

} // namespace rt
