// Calling an executable without the language.
#pragma once

#include "vm/executable/executable.h"
#include "vm/machine/run.h"

namespace executable {

/// Calls entries, one call at a time; several callers of one executable may be in several
/// threads.
class Caller {
public:
  /// `language` applies the operators that nothing else does. What is handed in must outlive this.
  Caller(const Executable& executable, const vm::RunOptions& options, const vm::Language& language);

  /// Arguments, of which only the elements of tensors are shared, so that several threads may hand
  /// in the same at once.
  using Arguments = std::span<const runtime::Value* const>;

  /// The result, or what the program ran into. Nothing must be wrong with the arguments.
  std::variant<runtime::Value, runtime::RunFault> call(size_t entry, Arguments arguments);
  /// What is wrong with arguments, if anything.
  std::optional<runtime::RunFault> problemOf(size_t entry, Arguments arguments) const;

private:
  const Executable& executable_;
  const vm::RunOptions& options_;
  const vm::Language& language_;
  /// Of each entry the tensors and tuples among its ports, as what is compared.
  std::vector<checks::FunctionCheck> ports_;
  /// A new one after a fault, which leaves objects behind.
  std::unique_ptr<vm::Run> run_;
  vm::Run& run();
};

/// Why an executable cannot be run without the language, or empty: it has an operator whose
/// shapes neither a kernel nor a native function finds by itself.
std::string languageText(const Executable& executable);
/// The fault of a site whose kernel is not for the shapes of these operands, where nothing else
/// does what it does.
runtime::Fault unfitFault(const vm::Program& program, uint32_t site,
                          std::span<const vm::Slot> operands);
/// What there is without the language: a fault for each operator that a kernel is not defined for.
vm::Language withoutLanguage(const Executable& executable);

} // namespace executable
