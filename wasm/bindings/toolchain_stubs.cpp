// Keeps out of the module what corners of the toolchain's libraries would link:
//
// - printf, for what libc++abi prints on the way to abort. A trap says as much as a message, and
//   JavaScript replaces an instance that trapped.
// - printf and arithmetic on 128-bit floats, for what nlohmann_json asks of snprintf and strtod:
//   11 KB gzipped, more than all the rest of it.
// - A search for a byte that reads four at a time: `find` of strings and views is made of it.
// - In Embind the names of types that nobody bound, and the registration of types that nobody uses,
//   each with its half in JavaScript.

#include <emscripten/bind.h>

#if __EMSCRIPTEN_major__ == 3 && __EMSCRIPTEN_minor__ == 1 && __EMSCRIPTEN_tiny__ == 6

#include <emscripten/emscripten.h>

#include <cstdlib>
#include <cstring>

#include "text/block.h"

namespace {

using emscripten::internal::TypeID;

template <typename T>
void register_unsigned(const char* name) {
  emscripten::internal::_embind_register_integer(TypeID<T>::get(), name, sizeof(T), 0, ~T{0});
}

}  // namespace

extern "C" {

void* __wrap_memchr(const void* text, int byte, size_t size) {
  const auto* const begin = static_cast<const char*>(text);
  const char* const found = sluice::find_byte(begin, begin + size, static_cast<char>(byte));
  return found == begin + size ? nullptr : const_cast<char*>(found);
}

[[noreturn]] void abort_message(const char* /*format*/, ...) {
  __builtin_trap();
}

// nlohmann_json formats the words of an error, which nobody reads: the tape has found the place.
int __wrap_snprintf(char* out, size_t size, const char* /*format*/, ...) {
  if (size > 0) *out = '\0';
  return 0;
}

EM_JS(double, number_of, (const char* text), { return Number(UTF8ToString(text)); });

// nlohmann_json gives one number of JSON, whole.
double __wrap_strtod(const char* text, char** end) {
  *end = const_cast<char*>(text) + std::strlen(text);
  return number_of(text);
}

// The name is freed by JavaScript.
EMSCRIPTEN_KEEPALIVE const char* __getTypeName(const void* /*type*/) {
  return static_cast<const char*>(std::calloc(1, 1));
}

// The types in the signatures of all bindings.
EMSCRIPTEN_KEEPALIVE __attribute__((constructor)) void
__embind_register_native_and_builtin_types() {
  using namespace emscripten::internal;
  _embind_register_void(TypeID<void>::get(), "void");
  _embind_register_bool(TypeID<bool>::get(), "bool", sizeof(bool), true, false);
  register_unsigned<unsigned int>("unsigned int");
  register_unsigned<unsigned long>("unsigned long");
  _embind_register_float(TypeID<double>::get(), "double", sizeof(double));
  _embind_register_emval(TypeID<emscripten::val>::get(), "emscripten::val");
  constexpr unsigned kUint8Array = 1;
  _embind_register_memory_view(TypeID<emscripten::memory_view<uint8_t>>::get(), kUint8Array,
                               "emscripten::memory_view<uint8_t>");
}
}

#endif
