// The gate over arbitrary bytes: no chunking changes the outcome, restoring gives the original, and
// what is kept stays within its bounds.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "gate/gate_fixture.h"
#include "gate/inner.h"
#include "sluice/config.h"

namespace {

using namespace sluice;

void require(bool holds) {
  if (!holds) std::abort();
}

// The first bytes choose limits and blocks; the rest is the document.
GateOptions options_from(uint8_t choice) {
  GateOptions options;
  options.max_inline_size = choice & 1 ? 300 : 1000;
  options.max_document_chars = choice & 2 ? 900 : 4000;
  options.min_run_chars = choice & 4 ? 64 : 200;
  options.max_segments = choice & 8 ? 3 : 64;
  options.require_magic = (choice & 16) == 0;
  options.max_depth = 64;
  static const std::vector<ToolField> fields = {
      {"*.*", "any", "", ""}, {"a", "a", "text/plain", ""}, {"*", "any", "", ""}};
  if (choice & 32) options.fields = &fields;
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 100'000) return 0;
  const GateOptions options = options_from(data[0]);
  const size_t block = data[1] % 97 + 1;
  const std::string_view json(reinterpret_cast<const char*>(data) + 2, size - 2);
  const testing::Passed whole = testing::pass(json, options);
  const testing::Passed cut = testing::pass(json, options, block);
  require(whole.status.code == cut.status.code);
  require(whole.status.line == cut.status.line && whole.status.column == cut.status.column);
  if (!whole.status.ok()) return 0;
  require(whole.reduced == cut.reduced && whole.contents == cut.contents);
  for (size_t i = 0; i < whole.segments.size(); ++i) {
    require(whole.closed[i] && whole.segments[i].form == cut.segments[i].form);
    require(whole.segments[i].description == cut.segments[i].description);
    require(whole.segments[i].spelling == cut.segments[i].spelling);
  }
  // Each document may have one more, for what stays of it: the outermost, and those in its texts.
  require(whole.segments.size() <= options.max_segments + 2 + gate::kMaxInner);
  // The gate passes over a byte order mark (RFC 8259 §8.1), the tape does not.
  const std::string_view plain = json.starts_with("\xEF\xBB\xBF") ? json.substr(3) : json;
  // What is not UTF-8 is no JSON: the gate lets it through as it came, and there is nothing to
  // compare.
  const std::string original = testing::normal(plain);
  if (!original.starts_with("not JSON"))
    require(testing::normal(testing::restore(whole)) == original);
  return 0;
}
