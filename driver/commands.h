// The commands: what each does with its options.
//
// driver/ is the command line of Baton: command_line.h reads the arguments, check.cpp, print.cpp
// and run.cpp are the commands. What they are made of lies in session/ (programs, and what is asked
// of them), values/ (values as texts and files) and debug/ (runs that are followed).
#pragma once

#include "driver/session/answer.h"
#include "driver/session/options.h"
#include "driver/session/session.h"

namespace driver {

Answer check(Session& session, const CheckOptions& options, const Look& look);
/// What stands at a place of a program.
Answer hover(Session& session, const CheckOptions& options, const Look& look);
/// Lays programs out.
Answer layOut(Session& session, const FmtOptions& options, const Look& look);
Answer print(Session& session, const PrintOptions& options, const Look& look);
Answer opt(Session& session, const OptOptions& options, const Look& look);
Answer passes();
Answer lower(Session& session, const LowerOptions& options, const Look& look);
/// The rewrites that schedules are made of.
Answer rewrites();
/// The reference of the machine's instructions.
Answer instructions();
Answer grad(Session& session, const GradOptions& options, const Look& look);
Answer compile(Session& session, const CompileOptions& options, const Look& look);
Answer disasm(Session& session, const DisasmOptions& options, const Look& look);
Answer run(Session& session, const RunOptions& options, const Look& look);
/// Calls a function again and again, and tells how long a call takes.
Answer bench(Session& session, const RunOptions& options, const Look& look);
/// Runs the tests of programs.
Answer test(Session& session, const TestOptions& options, const Look& look);
Answer debug(Session& session, const RunOptions& options, const Look& look);
Answer explain(const ExplainOptions& options, const Look& look);
/// The compiled kernels that are kept on disk.
Answer cache(const CacheOptions& options);
/// How far the programs of scalar functions are off.
Answer ulp(const UlpOptions& options);
/// What programs can name, or what one defines.
Answer doc(Session& session, const DocOptions& options, const Look& look);
Answer operators(const lang::OperatorTable& table, const OperatorsOptions& options);

} // namespace driver
