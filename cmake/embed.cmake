# Writes OUTPUT, a C++ file that defines stdlib::preludeFiles() from the texts in FILES.
set(rows "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"rly(${text})rly\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"stdlib/prelude.h\"

namespace stdlib {

std::span<const PreludeFile> preludeFiles() {
  static constexpr PreludeFile files[] = {
${rows}  };
  return files;
}

} // namespace stdlib
")
