// Reading a tool's contract under libFuzzer: whatever the bytes, it is a contract or none, what is
// written is bounded, and a contract read again is the same. The first byte chooses what the rest
// is: the whole answer, its structured content, the text of its only block, or members of one
// artifact.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/contract.h"
#include "sluice/tape.h"

namespace {

using sluice::ContractReading;
using Kind = ContractReading::Kind;

/// What defaults can add: a dozen characters to each of 512 files, and the display.
constexpr size_t kMostAdded = 20'000;

/// Fields, and the rules of a few words that they break.
constexpr size_t kMostTold = 16 * 400;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Nothing, or a count and fields, each with the rule that it breaks.
void require_told(const std::string& dropped) {
  if (dropped.empty()) return;
  sluice::Tape tape;
  require(dropped.size() <= kMostTold && sluice::Tape::parse(dropped, tape, 512, false).ok());
  const std::optional<size_t> fields = tape.find(0, "fields");
  require(tape.find(0, "count").has_value() && fields.has_value() && tape.count(*fields) > 0);
  for (size_t at = *fields + 1; at < tape[*fields].next; at = tape[at].next) {
    require(tape.find(at, "field").has_value() && tape.find(at, "rule").has_value());
  }
}

std::string answer_of(uint8_t form, std::string_view rest) {
  const std::string inside(rest);
  switch (form % 5) {
    case 0:
      return inside;
    case 1:
      return R"({"structuredContent":)" + inside + "}";
    case 2: {
      std::string block;
      sluice::append_escaped(block, inside);
      return R"({"content":[{"type":"text","text":")" + block + "\"}]}";
    }
    case 3:
      return R"({"results":{},"artifacts":[{"name":"a","mime":"a/b",)" + inside + "}]}";
    default:
      return R"({"results":{},"deferred_artifacts":[{"name":"a","mime":"a/b","path":"/p",)" +
             inside + R"(}],"display":{"primary_file":"a",)" + inside + "}}";
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text = answer_of(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  const ContractReading reading = sluice::read_contract(text);
  if (reading.kind == Kind::other) {
    require(reading.json.empty() && reading.dropped.empty());
    return 0;
  }
  require_told(reading.dropped);
  sluice::Tape tape;
  require(sluice::Tape::parse(reading.json, tape, 513, false).ok());
  require(reading.json.size() <= text.size() + kMostAdded);
  require(tape.find(0, "results") && tape.find(0, "artifacts"));
  require(tape.find(0, "deferred_artifacts") && tape.find(0, "display"));
  // Results that are no object are kept in one: then they stand one level deeper.
  if (!sluice::Tape::parse(reading.json, tape, 512, false).ok()) return 0;
  const ContractReading again = sluice::read_contract(reading.json);
  require(again.kind == Kind::contract && again.json == reading.json && again.dropped.empty());
  return 0;
}
