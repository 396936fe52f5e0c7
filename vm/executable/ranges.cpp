// An archive that neither writes nor reads, but goes where they go.
#include "vm/executable/ranges.h"

#include "vm/executable/fields.h"

namespace executable {

namespace {

class Visitor {
public:
  using Visit = std::function<void(runtime::SourceRange&)>;

  explicit Visitor(const Visit& visit) : visit_(visit) {}

  template <typename... T>
  void operator()(T&... values) {
    (go(values), ...);
  }
  template <typename... T>
  void implied(T&...) {}

private:
  void go(runtime::SourceRange& range) { visit_(range); }
  template <size_t size>
  void go(const char (&)[size]) {}
  void go(std::string&) {}
  void go(tensor::TensorFunction&) {}
  template <typename T>
  void go(std::optional<T>& value) {
    if (value)
      go(*value);
  }
  template <typename T>
  void go(std::vector<T>& list) {
    for (T& item : list)
      go(item);
  }
  template <typename T>
  void go(T& value) {
    if constexpr (!isNumber<T> && !std::is_enum_v<T>)
      fields(*this, value);
  }

  const Visit& visit_;
};

} // namespace

void forEachRange(Executable& executable, const std::function<void(runtime::SourceRange&)>& visit) {
  Visitor visitor(visit);
  visitor(executable);
}

} // namespace executable
