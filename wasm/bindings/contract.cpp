// The boundary to JavaScript of the module that reads tools' contracts: Embind only, no logic.
// Bytes cross as views into the module's memory, which die when memory grows.
#include "sluice/contract.h"

#include <emscripten/bind.h>

#include <string>

namespace {

using emscripten::typed_memory_view;
using emscripten::val;

/// What JavaScript holds: a buffer in and a buffer out.
class Contract {
 public:
  val input(size_t size) {
    in_.resize(size);
    return val(typed_memory_view(size, reinterpret_cast<const uint8_t*>(in_.data())));
  }
  val output() const {
    return val(typed_memory_view(out_.size(), reinterpret_cast<const uint8_t*>(out_.data())));
  }

  /// The kind of the reading; `output` is its contract.
  unsigned read() {
    sluice::ContractReading reading = sluice::read_contract(in_);
    out_ = std::move(reading.json);
    dropped_ = std::move(reading.dropped);
    return static_cast<unsigned>(reading.kind);
  }

  /// `output` is what was left out of the contract.
  void dropped() { out_.swap(dropped_); }

 private:
  std::string in_;
  std::string out_;
  std::string dropped_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(sluice_contract) {
  emscripten::class_<Contract>("Contract")
      .constructor<>()
      .function("input", &Contract::input)
      .function("output", &Contract::output)
      .function("read", &Contract::read)
      .function("dropped", &Contract::dropped);
}
