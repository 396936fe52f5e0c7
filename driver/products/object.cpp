// What functions do beyond gathering their arguments is in `libbaton_rt` (vm/rt/linked.cpp).
#include "driver/products/object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace driver {

namespace {

/// As a text of LLVM's.
std::string quotedForModule(const std::string& text) {
  std::string quoted;
  for (unsigned char letter : text)
    if (letter < ' ' || letter > '~' || letter == '"' || letter == '\\')
      quoted += fmt::format("\\{:02X}", letter);
    else
      quoted += char(letter);
  return quoted;
}

/// As a text of the assembler's.
std::string quotedForAssembler(const std::string& text) {
  std::string quoted;
  for (char letter : text)
    quoted += letter == '"' || letter == '\\' ? std::string("\\") + letter : std::string(1, letter);
  return quoted;
}

std::string bytesText(const std::string& path) {
  std::string text;
  for (const std::string& line :
       {std::string(".section .rodata.baton_program,\"a\",%progbits"), std::string(".p2align 6"),
        std::string(".Lbaton_bytes:"), fmt::format(".incbin \"{}\"", quotedForAssembler(path)),
        std::string(".text")})
    text += fmt::format("module asm \"{}\"\n", quotedForModule(line));
  return text;
}

std::string functionText(const ProductFunction& function, size_t entry) {
  const size_t count = function.parameters.size();
  std::string parameters, stores;
  for (size_t i = 0; i < count; ++i) {
    parameters += fmt::format("ptr %a{}, ", i);
    stores += fmt::format("  %s{0} = getelementptr ptr, ptr %all, i64 {0}\n"
                          "  store ptr %a{0}, ptr %s{0}, align 8\n",
                          i);
  }
  return fmt::format("define ptr @{}({}ptr %results) {{\n  %all = alloca [{} x ptr], align 8\n{}"
                     "  %e = call ptr @baton_program_call(ptr @baton_linked_program, i64 {}, ptr "
                     "%all, i64 {}, ptr %results, i64 {})\n  ret ptr %e\n}}\n",
                     function.symbol, parameters, count, stores, entry, count, function.results);
}

} // namespace

std::string objectModule(const ProgramModule& kernels,
                         const std::vector<ProductFunction>& functions,
                         const std::string& bytesPath, size_t bytes) {
  std::vector<std::string> parts;
  for (const std::string& symbol : kernels.functions)
    parts.push_back("ptr @" + symbol);
  std::string text = bytesText(bytesPath) + kernels.text;
  text += fmt::format("@\".Lbaton_bytes\" = external hidden constant i8\n"
                      "@baton_linked_kernels = internal constant [{} x ptr] [{}]\n",
                      parts.size(), fmt::join(parts, ", "));
  text += fmt::format("@baton_linked_program = internal global {{ ptr, i64, ptr, i64, ptr }} "
                      "{{ ptr @\".Lbaton_bytes\", i64 {}, ptr @baton_linked_kernels, i64 {}, ptr "
                      "null }}\n",
                      bytes, parts.size());
  text += "declare ptr @baton_program_call(ptr, i64, ptr, i64, ptr, i64)\n\n";
  for (size_t i = 0; i < functions.size(); ++i)
    text += functionText(functions[i], i);
  return text;
}

} // namespace driver
