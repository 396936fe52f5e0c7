// Machine code in executables: run only for who trusts it, refused where it is damaged in a way
// that can be seen, and never more than a refusal where it is not run.
//
// Without LLVM there is no machine code, and nothing to test.
#include "driver/executable_file.h"
#include "driver/products/machine_code.h"
#include "runtime/refused.h"
#include "stdlib/ops.h"
#include "vm/bytecode/kernel_programs.h"
#include "vm/executable/machine_code.h"
#include "vm/rt/baton_rt.h"

#include <catch2/catch.hpp>

namespace {

using executable::Executable;
using executable::MachineCode;

/// A program of a few kernels, with machine code for the processor at hand where there is LLVM.
Executable someExecutable() {
  driver::Session session{stdlib::operatorTable()};
  auto program = session.loadText("test.rly", R"(#[version = "0.0.5"]
def @main(%x: Tensor[(n), float32], %y: Tensor[(4), float32]) {
  (sum(exp(%x), axis=[0]), %y * 2f)
}
)");
  REQUIRE(program);
  REQUIRE(program->isGood());
  driver::ReadyProgram ready{*std::move(program), {"main"}};
  Executable made = driver::makeExecutable(session, ready);
  bytecode::addKernelPrograms(made, loops::Numbers::Reordered);
  (void)driver::addMachineCode(made, loops::Numbers::Reordered, {driver::ownTarget()});
  return made;
}

/// What `trustedKernels` says against an executable; empty where it loads.
std::string refusal(const Executable& made) {
  try {
    executable::trustedKernels(made);
    return "";
  } catch (const runtime::Refused& refused) {
    return refused.problem;
  }
}

constexpr const char* notFor = "its machine code is not for its kernels";
constexpr const char* notLoaded = "its machine code cannot be loaded";

/// An error of the library, given up.
std::string said(baton_error* error) {
  std::string text = error ? baton_error_message(error) : "";
  baton_error_free(error);
  return text;
}

/// Whether bytes are refused as a model, and why it cannot be trusted where they are not.
std::string modelProblem(const std::vector<std::byte>& bytes, size_t& kernels) {
  baton_model* model = nullptr;
  std::string problem = said(baton_model_read(bytes.data(), bytes.size(), &model));
  if (problem.empty())
    problem = said(baton_model_trust_code(model, &kernels));
  baton_model_free(model);
  return problem;
}

} // namespace

TEST_CASE("machine code comes back from a file, for the kernels that it is for") {
  Executable made = someExecutable();
  if (made.machineCode.empty())
    return;
  size_t kernels = 0;
  CHECK(modelProblem(executable::write(made), kernels) == "");
  CHECK(kernels == made.program.kernels.size());
  for (MachineCode& code : made.machineCode)
    code.target = "a processor of another world";
  CHECK(modelProblem(executable::write(made), kernels) == "");
  CHECK(kernels == 0);
}

TEST_CASE("a file whose machine code was damaged is not read") {
  const Executable made = someExecutable();
  if (made.machineCode.empty())
    return;
  const std::vector<std::byte> whole = executable::write(made);
  const std::string_view text(reinterpret_cast<const char*>(whole.data()), whole.size());
  const size_t start = text.find(made.machineCode[0].bytes);
  REQUIRE(start != text.npos);
  for (size_t at = start; at < start + made.machineCode[0].bytes.size(); at += 61) {
    std::vector<std::byte> bytes = whole;
    bytes[at] ^= std::byte(1 << at % 8);
    size_t kernels = 0;
    CHECK(modelProblem(bytes, kernels) ==
          "cannot read the program: its checksum is wrong: the file is damaged");
  }
}

TEST_CASE("machine code that does not fit its kernels is refused") {
  const Executable made = someExecutable();
  if (made.machineCode.empty())
    return;
  REQUIRE(refusal(made) == "");
  auto with = [&](auto change) {
    Executable changed = someExecutable();
    change(changed.machineCode[0].bytes);
    return refusal(changed);
  };
  CHECK(with([](std::string& bytes) { bytes.clear(); }) == notFor);
  CHECK(with([](std::string& bytes) { bytes.pop_back(); }) == notFor);
  CHECK(with([](std::string& bytes) { bytes += '\0'; }) == notFor);
  auto withCode = [&](auto change) {
    return with([&](std::string& bytes) {
      codegen::NestCode code = *codegen::nestCodeOf(bytes);
      change(code);
      bytes = codegen::bytesOf(code);
    });
  };
  CHECK(withCode([](codegen::NestCode& code) { ++code.inputs; }) == notFor);
  CHECK(withCode([](codegen::NestCode& code) { ++code.outputs; }) == notFor);
  CHECK(withCode([](codegen::NestCode& code) { ++code.sizes; }) == notFor);
  CHECK(withCode([](codegen::NestCode& code) { code.parts[0].entry = 1'000; }) == notFor);
  CHECK(withCode([](codegen::NestCode& code) { code.image.entries[0] = UINT64_MAX; }) == notFor);
  // Functions that are linked, where none are.
  CHECK(withCode([](codegen::NestCode& code) { code.image = {}; }) == notLoaded);
  CHECK(withCode([](codegen::NestCode& code) {
          code.image.helpers.push_back({0, 1'000});
        }) == notLoaded);
}

TEST_CASE("no byte of machine code makes loading it more than a refusal") {
  Executable made = someExecutable();
  if (made.machineCode.empty())
    return;
  const std::string whole = made.machineCode[0].bytes;
  size_t refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    // All places and counts; of code and data, which may be anything, some.
    const bool isCode = at > 600 && at + 200 < whole.size();
    if (isCode && at % 101 != 0)
      continue;
    made.machineCode[0].bytes = whole;
    made.machineCode[0].bytes[at] = char(made.machineCode[0].bytes[at] ^ (1 << at % 8));
    const std::string problem = refusal(made);
    CHECK((problem == "" || problem == notFor || problem == notLoaded));
    refused += !problem.empty();
  }
  CHECK(refused > 0);
}
