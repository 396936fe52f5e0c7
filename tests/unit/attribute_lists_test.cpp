// One integer where an attribute is a list.
#include "driver/session/session.h"
#include "lang/print/print.h"
#include "stdlib/ops.h"

#include <catch2/catch.hpp>

namespace {

/// What a program with this body is printed as; its findings when it is wrong.
std::string printed(const std::string& body) {
  driver::Session session(stdlib::operatorTable());
  auto program =
      session.loadText("test", "def @main(%x: Tensor[(1, 3, 8, 8), float32]) { " + body + " }");
  REQUIRE(program);
  for (const lang::Diagnostic& finding : program->diagnostics.all())
    return finding.text.plain();
  return lang::printModule(*program->module, session.operators()).text;
}

TEST_CASE("an integer stands for a list of equal ones, as many as the attribute has") {
  auto check = [](const std::string& written, const std::string& list) {
    INFO(written);
    CHECK(printed(written) == printed(list));
    CHECK(printed(written).find(list.substr(list.find('['))) != std::string::npos);
  };
  check("sum(%x, axis=1)", "sum(%x, axis=[1])");
  check("nn.max_pool2d(%x, pool_size=2)", "nn.max_pool2d(%x, pool_size=[2, 2])");
  check("nn.max_pool2d(%x, pool_size=[2, 2], strides=2)",
        "nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2])");
  check("nn.max_pool2d(%x, pool_size=[2, 2], padding=1)",
        "nn.max_pool2d(%x, pool_size=[2, 2], padding=[1, 1])");
  check("image.resize2d(%x, size=4, roi=[0f, 0f, 0f, 0f])",
        "image.resize2d(%x, size=[4, 4], roi=[0f, 0f, 0f, 0f])");
  check("reshape(%x, newshape=-1)", "reshape(%x, newshape=[-1])");
}

} // namespace
