// What was read is written as bytes and read again, so that a text is looked at as any file is.
#include "vm/assembly/text.h"

#include "lang/source/utf8.h"
#include "vm/assembly/text_reader.h"
#include "vm/assembly/text_writer.h"
#include "vm/machine/verify.h"

#include <map>

namespace assembly {

namespace {

constexpr std::string_view header = "#[executable = 1]";

void readAll(Tokens& tokens, TextReader& reader, executable::Executable& made) {
  tokens.expect("#[");
  tokens.expect("executable");
  tokens.expect("=");
  Token version = tokens.expect(TokenKind::Number, "a number");
  if (tokens.isGood() && version.text != "1") {
    tokens.fail(lang::Message::UnknownVersion, version.range, lang::printable(version.text))
        ->note("this is version 1; another version of Baton wrote the text, so compile the program "
               "again");
    return;
  }
  tokens.expect("]");
  made.program.layouts.clear();
  fields(reader, made);
  reader("statics", made.program.statics);
  if (tokens.isGood() && !tokens.isAt(TokenKind::End))
    tokens.failExpecting("end of text");
}

} // namespace

std::string disassemble(const vm::Program& program) {
  std::string text;
  for (size_t i = 0; i < program.functions.size(); ++i) {
    const vm::Function& function = program.functions[i];
    std::string result = function.flat.empty() ? repText(function.result)
                                               : fmt::format("({})", repsText(function.flat));
    text += fmt::format("{}f{} {}({}) -> {}, {} registers\n", i == 0 ? "" : "\n", i,
                        lang::printable(function.name), repsText(function.parameters), result,
                        function.registers);
    for (size_t place = 0; place < function.size;) {
      const vm::Word* at = program.code.data() + function.start + place;
      std::string meaning = remark(program, at);
      text += fmt::format("{:6}  {}{}{}\n", place, instructionText(program, at, place),
                          meaning.empty() ? "" : "  // ", meaning);
      place += vm::wordCount(program, at);
    }
  }
  return text;
}

namespace {

/// What a text leaves out, which is made of the rest.
std::string machineCodeRemark(const executable::Executable& made) {
  std::map<std::string_view, std::pair<size_t, size_t>> ofTarget;
  for (const executable::MachineCode& code : made.machineCode) {
    auto& [kernels, bytes] = ofTarget[code.target];
    kernels += code.kernels.size();
    bytes += code.bytes.size();
  }
  std::string remark;
  for (const auto& [target, counts] : ofTarget)
    remark += fmt::format("// Machine code for {} of {} kernels, {} bytes, is not in a text.\n",
                          target, counts.first, counts.second);
  return remark;
}

} // namespace

std::string text(const executable::Executable& made) {
  TextWriter writer(made);
  writer.lines.add(header);
  writer.lines.add("\n");
  writer.lines.add(machineCodeRemark(made));
  fields(writer, const_cast<executable::Executable&>(made));
  writer("statics", made.program.statics);
  return writer.lines.text();
}

bool isText(std::string_view text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with("//"))
      break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return text.starts_with(header.substr(0, header.find(' ')));
}

std::unique_ptr<executable::Executable> assemble(const lang::SourceFile& file,
                                                 lang::Diagnostics& diagnostics) {
  executable::Executable made;
  Tokens tokens(file, diagnostics);
  TextReader reader(tokens, made);
  readAll(tokens, reader, made);
  if (diagnostics.hasErrors())
    return nullptr;
  std::vector<std::byte> bytes = executable::write(made);
  std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  auto good = executable::read(copy, bytes.size());
  if (good)
    return *std::move(good);
  auto unsound = vm::findUnsound(made.program);
  if (unsound && unsound->function)
    diagnostics.report(
        lang::Message::RefusedCode,
        reader.rangeOf(size_t(unsound->function - made.program.functions.data()), unsound->place),
        unsound->problem);
  else
    diagnostics.report(lang::Message::RefusedCode, {file.base(), file.base()},
                       good.failure().message);
  return nullptr;
}

} // namespace assembly
