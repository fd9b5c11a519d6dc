// Keeps printf out of the module. Two corners of the toolchain's libraries would link it:
// libc++abi, for what it prints on the way to abort, and Embind, for the names of types that nobody
// bound. A trap says as much, and JavaScript replaces an instance that trapped.

#if __EMSCRIPTEN_major__ == 3 && __EMSCRIPTEN_minor__ == 1 && __EMSCRIPTEN_tiny__ == 6

extern "C" {

[[noreturn]] void abort_message(const char* /*format*/, ...) {
  __builtin_trap();
}

// What clang makes of sprintf without floating-point arguments.
int siprintf(char* text, const char* /*format*/, ...) {
  text[0] = '?';
  text[1] = '\0';
  return 1;
}
}

#endif
