// The C interface of executables: what is handed in, what comes out, and what it refuses.
#include "driver/derive.h"
#include "driver/executable_file.h"
#include "rt/baton_rt.h"
#include "stdlib/ops.h"

#include <catch2/catch.hpp>
#include <malloc.h>

namespace {

std::vector<std::byte> compiled(const std::string& text, const std::vector<std::string>& entries) {
  driver::Session session{stdlib::operatorTable()};
  auto program = session.loadText("test.rly", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE(program);
  REQUIRE(program->isGood());
  driver::ReadyProgram ready{*std::move(program), entries};
  return executable::write(driver::makeExecutable(session, ready));
}

/// What an error says, after its kind; empty when there is none. Gives it up.
std::string said(baton_error* error) {
  if (!error)
    return "";
  std::string text =
      fmt::format("{}: {}", int(baton_error_what(error)), baton_error_message(error));
  for (size_t i = 0; const char* place = baton_error_place(error, i); ++i)
    text += fmt::format(" at {}", place);
  baton_error_free(error);
  return text;
}

TEST_CASE("what a model took is given back") {
  auto bytes = compiled("def @main(%x: int32) { %x + 1 }", {"main"});
  auto readOften = [&] {
    for (int i = 0; i < 1000; ++i) {
      baton_model* model = nullptr;
      REQUIRE(said(baton_model_read(bytes.data(), bytes.size(), &model)) == "");
      baton_model_free(model);
    }
    return mallinfo2().uordblks;
  };
  size_t before = readOften();
  CHECK(readOften() < before + 20'000);
}

} // namespace
