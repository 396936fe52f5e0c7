# Writes OUTPUT, a C++ file that defines FUNCTION() of NAMESPACE, declared in HEADER: a digest of
# what FILES say, which changes when one of them does.
set(all "")
foreach(file ${FILES})
  file(SHA256 ${file} digest)
  string(APPEND all ${digest})
endforeach()
string(SHA256 digest "${all}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace ${NAMESPACE} {

std::string_view ${FUNCTION}() {
  return \"${digest}\";
}

} // namespace ${NAMESPACE}
")
