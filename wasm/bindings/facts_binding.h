// What the modules that tell facts of files have in common: Embind only, no logic. Bytes cross as
// views into the module's memory, which die when memory grows.
#pragma once

#include <emscripten/bind.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// What JavaScript holds: a buffer in and a buffer out.
template <std::string (*tell_facts_of)(std::string_view)>
class FactsBinding {
 public:
  emscripten::val input(size_t size) {
    in_.resize(size);
    return view(in_);
  }
  emscripten::val output() const { return view(out_); }

  /// The input is the evidence of a file, the output its description.
  void tell() { out_ = tell_facts_of(in_); }

  static void bind() {
    emscripten::class_<FactsBinding>("Facts")
        .template constructor<>()
        .function("input", &FactsBinding::input)
        .function("output", &FactsBinding::output)
        .function("tell", &FactsBinding::tell);
  }

 private:
  static emscripten::val view(const std::string& bytes) {
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    return emscripten::val(emscripten::typed_memory_view(bytes.size(), begin));
  }

  std::string in_;
  std::string out_;
};

}  // namespace sluice
