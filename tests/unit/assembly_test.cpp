// Pieces of texts of executables, which must read back bit for bit. Whole executables are compared
// by tests/tools/executable_test.py.
#include "tests/unit/places.h"
#include "vm/assembly/instructions.h"
#include "vm/assembly/numbers.h"
#include "vm/assembly/reference.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace runtime;

namespace {

template <typename T>
void demandSame(DType dtype, T bits) {
  T again = 0;
  std::string text = assembly::elementText(dtype, reinterpret_cast<const std::byte*>(&bits));
  INFO(dtypeName(dtype) << " " << +bits << " is " << text);
  REQUIRE(assembly::readElement(dtype, text, reinterpret_cast<std::byte*>(&again)));
  REQUIRE(again == bits);
}

std::string textOf(DType dtype, uint64_t bits) {
  return assembly::elementText(dtype, reinterpret_cast<const std::byte*>(&bits));
}

} // namespace

TEST_CASE("every instruction is found by its name") {
  for (uint16_t op = 0; op < vm::opCount; ++op)
    CHECK(assembly::findInstruction(vm::instructionText(vm::Op(op)).text) == vm::Op(op));
  CHECK(!assembly::findInstruction("mak"));
}

TEST_CASE("the printed reference of instructions is up to date") {
  std::ifstream file(tests::sourceFolder() / "docs/instructions.md");
  std::stringstream text;
  text << file.rdbuf();
  bool isUpToDate = text.str() == assembly::instructionReference();
  INFO("run `baton instructions > docs/instructions.md`");
  CHECK(isUpToDate);
}

TEST_CASE("all patterns of bits of small types read back") {
  for (uint32_t bits = 0; bits <= UINT16_MAX; ++bits)
    for (DType dtype : {Float16, BFloat16, Int16, UInt16})
      demandSame(dtype, uint16_t(bits));
  for (uint32_t bits = 0; bits <= UINT8_MAX; ++bits)
    for (DType dtype : {Bool, Int8, UInt8, DType{DTypeCode::Int, 4}})
      demandSame(dtype, uint8_t(bits));
}

TEST_CASE("floats with signs, payloads and few digits read back") {
  for (uint32_t bits : {0u, 1u, 0x80000000u, 0x7f7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u,
                        0xffc00000u, 0x7f800001u, 0x7fc12345u, 0x3dcccccdu, 0x00800000u})
    demandSame(Float32, bits);
  for (uint64_t bits : {uint64_t(0), uint64_t(1), uint64_t(1) << 63, 0x7ff0000000000001u,
                        0x7ff8000000000000u, 0xfff0000000000000u, 0x3fb999999999999au})
    demandSame(Float64, bits);
  demandSame(UInt64, UINT64_MAX);
  demandSame(Int64, uint64_t(1) << 63);
  CHECK(textOf(Float32, 0x3dcccccd) == "0.1");
  CHECK(textOf(Float32, 0x80000000) == "-0");
  CHECK(textOf(Float32, 0xff800000) == "-inf");
  CHECK(textOf(Float32, 0x7fc12345) == "0x7fc12345");
  CHECK(textOf(Bool, 2) == "0x02");
}

TEST_CASE("what is no element of a type is not read") {
  std::byte element[8];
  for (std::string_view text : {"", "1.5", "300", "-1", "0x1", "0x123", "x", "1 "})
    CHECK(!assembly::readElement(UInt8, text, element));
  for (std::string_view text : {"", "1e400", "0x7fc0", "one", "1,"})
    CHECK(!assembly::readElement(Float32, text, element));
}

TEST_CASE("strings read back, in quotes and as lines") {
  for (std::string text :
       {std::string(), std::string("a\"b\\c\n\t"), std::string("\0\x1b\xff", 3),
        std::string("\xe2\x82\xac"), std::string("one\n\n  two \n"), std::string("\n")}) {
    std::string written = assembly::quoted(text);
    if (assembly::isLines(text)) {
      lang::Diagnostics diagnostics;
      std::string lines = "|";
      for (char c : text)
        (lines += c) += c == '\n' ? "  |" : "";
      lang::SourceFile file("lines", lines + "\n name", 1);
      assembly::Tokens tokens(file, diagnostics);
      CHECK(tokens.string() == text);
      CHECK(tokens.isAt("name"));
    }
    lang::Diagnostics diagnostics;
    lang::SourceFile file("quoted", written, 1);
    assembly::Tokens tokens(file, diagnostics);
    CHECK(tokens.string() == text);
    CHECK(tokens.isAt(assembly::TokenKind::End));
    CHECK(!diagnostics.hasErrors());
  }
}
