// Constructors of the result are those of the module that comes with the file; their names are the
// same.
#include "tests/harness/through_file.h"

#include "lang/print/print.h"
#include "parser/metadata/metadata.h"
#include "stdlib/ops.h"
#include "vm/assembly/text.h"
#include "vm/bytecode/export.h"

#include <cstring>

namespace harness {

using namespace lang;
using runtime::Value;

FileRun runThroughFile(const ReadText& read, const Global& entry, std::vector<Value> arguments,
                       const bytecode::Options& options, Reader& reader) {
  const OperatorTable& operators = stdlib::operatorTable();
  bytecode::Exported exported =
      bytecode::exportProgram(*read.module, read.typing, operators, std::array{&entry});
  exported.executable.language = parser::wholeText(printModule(*exported.language, operators));
  read.module->metadata = std::move(exported.language->metadata);
  const std::vector<std::byte> bytes = executable::write(exported.executable);
  std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  auto made = executable::read(copy, bytes.size());
  if (!made)
    throw std::runtime_error("the file is refused: " + made.failure().message);
  if (executable::write(**made) != bytes ||
      assembly::disassemble((*made)->program) != assembly::disassemble(exported.executable.program))
    throw std::runtime_error("the file is read as another program");
  lang::Diagnostics findings;
  const SourceFile text("text", assembly::text(**made), 1);
  auto again = assembly::assemble(text, findings);
  if (!again)
    throw std::runtime_error("the file as text is refused: " + findings.all()[0].text.plain());
  if (executable::write(*again) != bytes)
    throw std::runtime_error("the file is another one after it was a text");
  ReadText language = reader.read((*made)->language);
  if (!language.isGood())
    throw std::runtime_error("the language of the file is refused: " + reader.errorText(language) +
                             (*made)->language);
  auto linked = bytecode::link(*std::move(made), *language.module, language.typing);
  if (!linked)
    throw std::runtime_error("the file cannot be linked: " + linked.failure().message);
  auto result = bytecode::run(**linked, 0, *language.module, language.typing, operators,
                              std::move(arguments), options);
  return {std::move(language), *std::move(linked), std::move(result)};
}

} // namespace harness
