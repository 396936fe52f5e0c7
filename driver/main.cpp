// The program `baton`.
#include "driver/command_line.h"
#include "driver/debug/interrupt.h"
#include "driver/large_stack.h"
#include "driver/memory_limit.h"
#include "driver/terminal.h"

int main(int count, char** words) {
  driver::limitMemory();
  driver::handleSignals();
  driver::Answer answer;
  driver::runOnLargeStack(
      [&] { answer = driver::runCommandLine(count, words, driver::lookOfTerminal()); });
  return driver::finish(answer);
}
