// A text of lists in brackets that is broken into lines at the end, when all lengths are known: a
// list that does not fit a line has each item on a line of its own, with its number where it has
// one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assembly {

class Lines {
public:
  void add(std::string_view text);
  /// Ends the line unless it has just been ended.
  void endLine();
  /// Opens a list; one that `isTable` is broken in any case.
  void open(char bracket, bool isTable = false);
  /// An item begins; `isNumbered` when it shows its number in a list that is broken.
  void item(bool isNumbered);
  void close(char bracket);

  size_t depth() const { return open_.size(); }
  std::string text() const;

private:
  struct List {
    size_t begin;
    uint32_t depth;
    uint32_t items = 0;
    bool isBroken = false;
  };
  /// Where a line may end.
  struct Break {
    size_t at;
    uint32_t list, depth;
    uint32_t number;
  };

  std::string text_;
  std::vector<List> lists_;
  std::vector<Break> breaks_;
  /// Numbers of the lists that are not closed.
  std::vector<uint32_t> open_;
  /// Behind the last line end in the text itself.
  size_t lineStart_ = 0;
};

} // namespace assembly
