// whole/ is what `libbaton` has beyond `libbaton_rt`: the language, which applies operators that
// have no kernel and knows the words for sizes that do not go together. The C interface is the same
// one (vm/rt/baton_rt.h).
//
// Contexts in several threads share the language of their model, which is not made for that: one at
// a time applies an operator. Kernels and code need no turns.
#include "vm/rt/language.h"

#include "codegen/strips/compile/sized.h"
#include "driver/session/session.h"
#include "stdlib/ops.h"
#include "vm/bytecode/language_sites.h"
#include "vm/bytecode/link.h"

#include <algorithm>
#include <mutex>

namespace rt {

namespace {

/// An executable with the module that it was linked with. Names in its values point into that.
struct Whole {
  driver::Session session{stdlib::operatorTable()};
  driver::Program language = {};
  std::unique_ptr<bytecode::Linked> linked = nullptr;
  tensor::TensorEngine engine = strips::stripsEngine();
  std::optional<bytecode::LanguageSites> sites = std::nullopt;
  std::mutex turn = {};
};

/// Whether there is something that only the language can apply, or knows the words for.
bool hasSites(const executable::Executable& made) {
  return !made.languageSites.empty() || !executable::languageText(made).empty();
}

} // namespace

runtime::Result<Callable> callableOf(std::unique_ptr<executable::Executable> made) {
  if (!hasSites(*made)) {
    vm::Language none = executable::withoutLanguage(*made);
    return Callable{std::move(made), std::move(none)};
  }
  auto whole = std::make_shared<Whole>();
  auto language = whole->session.loadText("language", made->language);
  if (!language)
    return language.failure();
  if (!language->isGood())
    return runtime::Error{"what it says of the language cannot be read"};
  whole->language = *std::move(language);
  auto linked = bytecode::link(std::move(made), *whole->language.module, whole->language.typing);
  if (!linked)
    return linked.failure();
  whole->linked = *std::move(linked);
  const executable::Executable& executable = *whole->linked->executable;
  whole->sites.emplace(executable.program, whole->linked->sites, whole->language.typing,
                       whole->session.operators(), whole->engine);
  vm::Language apply = [whole](uint32_t site, std::span<const vm::Slot> operands,
                               vm::Machine& machine, vm::Slot& result,
                               std::optional<runtime::Fault> found) {
    std::scoped_lock ours(whole->turn);
    bytecode::ValueReader reader(whole->linked->layouts, machine);
    return whole->sites->apply(site, operands, reader, result, std::move(found));
  };
  return Callable{{whole, &executable}, std::move(apply)};
}

} // namespace rt
