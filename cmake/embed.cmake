# Writes OUTPUT, a C++ file that defines FUNCTION() of NAMESPACE, declared in HEADER: a span of ROW,
# one row {file name, text} for each of FILES.
set(rows "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace ${NAMESPACE} {

std::span<const ${ROW}> ${FUNCTION}() {
  static constexpr ${ROW} files[] = {
${rows}  };
  return files;
}

} // namespace ${NAMESPACE}
")
