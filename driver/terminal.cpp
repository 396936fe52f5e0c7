// Commands come a line at a time, from a person or from a pipe.
#include "driver/terminal.h"

#include "driver/debug/interrupt.h"
#include "lang/source/utf8.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace driver {

namespace {

bool writeAll(std::string_view text, std::FILE* stream) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() &&
         std::fflush(stream) == 0;
}

constexpr size_t longestCommand = 4096;

/// Reads to the end of a line, which is the result, or EOF; of too long a line it keeps only the
/// beginning, which is too long as well.
int readLine(std::string& line) {
  int next = std::getc(stdin);
  for (; next != EOF && next != '\n'; next = std::getc(stdin))
    if (line.size() <= longestCommand)
      line += char(next);
  return next;
}

/// Whoever reads what commands from a pipe did wants to see the commands too. An interrupt takes
/// back what was typed.
std::optional<std::string> askAtPrompt() {
  for (;;) {
    InterruptWatch watch(InterruptWatch::Reads::End);
    writeAll("(baton) ", stdout);
    std::string line;
    int end = readLine(line);
    if (end == EOF && watch.isInterrupted()) {
      std::clearerr(stdin);
      writeAll("\n", stdout);
      continue;
    }
    bool isTooLong = line.size() > longestCommand;
    if (isatty(STDIN_FILENO) != 1)
      writeAll(isTooLong ? "...\n" : lang::printable(line) + '\n', stdout);
    if (!isTooLong)
      return end == EOF && line.empty() ? std::nullopt : std::optional(line);
    writeAll(fmt::format("error: a command has at most {} bytes\n", longestCommand), stdout);
  }
}

} // namespace

Look lookOfTerminal() {
  bool isTerminal = isatty(STDERR_FILENO) == 1;
  const char* kind = std::getenv("TERM");
  bool isPlain = !kind || std::string_view(kind) == "dumb";
  const char* noColour = std::getenv("NO_COLOR");
  bool wantsNone = noColour && *noColour;
  bool isBold = isatty(STDOUT_FILENO) == 1 && !isPlain && !wantsNone;
  return {isTerminal && !isPlain && !wantsNone,
          isTerminal && !isPlain,
          isBold,
          [](const std::string& text) { writeAll(text, stderr); },
          [](const std::string& text) { writeAll(text, stdout); },
          askAtPrompt};
}

// What was told before may be lost too, and the stream remembers.
int finish(const Answer& answer) {
  bool written = writeAll(answer.output, stdout) && std::ferror(stdout) == 0;
  writeAll(answer.errors, stderr);
  if (written)
    return int(answer.code);
  writeAll("error: standard output cannot be written\n", stderr);
  return std::max(int(answer.code), int(ExitCode::World));
}

} // namespace driver
