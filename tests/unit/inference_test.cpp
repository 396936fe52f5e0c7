// Types that are inferred, as the rules of Relay give them and not as Baton happened to say them.
//
// The programs are in tests/inference/*.rly, many to a file. A line `// rule: TEXT` says what the
// programs after it are about, `// type: TYPE` begins one and gives the type of its `@main`, and
// the lines after it are the program.
#include "tests/unit/case_files.h"
#include "tests/unit/checked_program.h"

TEST_CASE("types are those of the rules", "[inference]") {
  for (const tests::CaseFile& file : tests::caseFiles("inference", "// type: ")) {
    INFO(file.name);
    REQUIRE_FALSE(file.cases.empty());
    for (const tests::Case& item : file.cases) {
      INFO(item.text);
      tests::CheckedProgram program(item.text);
      CHECK(program.errors() == std::vector<std::string>{});
      if (program.isGood())
        CHECK(program.typeOfMain() == item.title);
    }
  }
}
