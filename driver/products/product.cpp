// What lies beside a product while it is made is gone at the end.
#include "driver/products/product.h"

#include "codegen/llvm/library.h"
#include "driver/products/link.h"
#include "driver/products/machine_code.h"
#include "driver/products/object.h"
#include "lower/loops/names.h"
#include "runtime/formats/file.h"
#include "vm/executable/call.h"

#include <filesystem>
#include <fmt/format.h>

namespace driver {

namespace {

namespace fs = std::filesystem;

/// Files that are gone at the end.
struct Removed {
  std::vector<std::string> paths;
  ~Removed() {
    std::error_code none;
    for (const std::string& path : paths)
      fs::remove(path, none);
  }
};

/// Makes the product of an executable whose kernels have strip programs.
class Product {
public:
  Product(const CompileOptions& options, std::vector<Target> targets, executable::Executable& made,
          Answer& answer)
      : options_(options), targets_(std::move(targets)), made_(made), answer_(answer),
        numbers_(*loops::numbersOf(options.numbers)) {
    if (targets_.empty() && options.emit != "bvm")
      targets_ = {ownTarget()};
  }

  void make() {
    if (options_.emit == "bvm")
      return makeExecutable();
    if (!areOfOneFamily(targets_))
      return answer_.fail(ExitCode::World,
                          fmt::format("`--emit={}` is for one family of processors, and `--target` "
                                      "names several",
                                      options_.emit));
    ProgramModule kernels = programModule(made_, numbers_, targets_);
    if (options_.emit == "llvm")
      return write(options_.output, kernels.text);
    if (options_.emit == "asm")
      return writeCompiled(options_.output, kernels.text, kernels.base, codegen::Output::Assembly);
    makeObject(kernels);
  }

private:
  bool isGood() const { return answer_.code == ExitCode::Good; }

  void write(const std::string& path, std::string_view text) {
    if (auto written = formats::writeFile(path, text); !written)
      answer_.fail(ExitCode::World, written.failure().message);
  }

  void write(const std::string& path, const std::vector<std::byte>& bytes) {
    write(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

  void writeCompiled(const std::string& path, const std::string& module,
                     const codegen::Processor& processor, codegen::Output output) {
    auto code = codegen::compiled(module, processor, output);
    if (!code)
      return answer_.fail(ExitCode::World, code.failure().message);
    write(path, *code);
  }

  void makeExecutable() {
    if (!targets_.empty())
      if (auto added = addMachineCode(made_, numbers_, targets_); !added)
        return answer_.fail(ExitCode::World, added.failure().message);
    write(options_.output, executable::write(made_));
  }

  void makeObject(ProgramModule& kernels) {
    const std::string product = productName(options_.output);
    auto functions = productFunctions(made_, product);
    if (!functions)
      return answer_.fail(ExitCode::Program, functions.failure().text);
    if (std::string text = executable::languageText(made_); !text.empty())
      return answer_.fail(ExitCode::Program, text);
    made_.machineCode = std::move(kernels.machineCode);
    const bool isShared = options_.emit == "so";
    const std::string object = isShared ? options_.output + ".part.o" : options_.output;
    Removed removed{{options_.output + ".part.bvm"}};
    if (isShared)
      removed.paths.push_back(object);
    const std::vector<std::byte> bytes = executable::write(made_);
    write(removed.paths[0], bytes);
    if (isGood())
      writeCompiled(object, objectModule(kernels, *functions, removed.paths[0], bytes.size()),
                    kernels.base, codegen::Output::Object);
    if (isGood() && isShared)
      link(object, kernels.base.triple, *functions);
    if (isGood())
      write(fs::path(options_.output).replace_extension(".h").string(),
            headerText(product, *functions));
  }

  void link(const std::string& object, const std::string& triple,
            const std::vector<ProductFunction>& functions) {
    std::vector<std::string> symbols;
    for (const ProductFunction& function : functions)
      symbols.push_back(function.symbol);
    if (auto linked = linkShared(object, options_.output, triple, symbols); !linked)
      answer_.fail(ExitCode::World, linked.failure().message);
  }

  const CompileOptions& options_;
  std::vector<Target> targets_;
  executable::Executable& made_;
  Answer& answer_;
  loops::Numbers numbers_;
};

} // namespace

void writeProduct(const CompileOptions& options, std::vector<Target> targets,
                  executable::Executable& made, Answer& answer) {
  Product(options, std::move(targets), made, answer).make();
}

} // namespace driver
