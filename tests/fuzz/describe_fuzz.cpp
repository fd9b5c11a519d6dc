// Anything at all through describe, Outline, quote_untrusted and preview. The first byte picks the
// block size and the limit.
#include <cstdlib>

#include "describe/code_point.h"
#include "describe/image/dimensions.h"
#include "sluice/describe.h"
#include "sluice/tape.h"

namespace {

using sluice::as_bytes;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string outline_of(std::string_view text, size_t block) {
  sluice::Outline outline;
  for (size_t at = 0; at < text.size(); at += block) outline.push(as_bytes(text.substr(at, block)));
  return outline.finish();
}

void check_outline(std::string_view text, size_t block) {
  const std::string outline = outline_of(text, text.size() + 1);
  require(outline_of(text, block) == outline);
  require(sluice::count_chars(outline) <= 300);
  sluice::Tape tape;
  if (!sluice::Tape::parse(text, tape).ok()) return;
  const sluice::Type root = tape[0].type;
  const bool container = root == sluice::Type::array || root == sluice::Type::object;
  require(outline.empty() == !container);
}

void check_quote(std::string_view text, size_t limit) {
  const std::string quote = sluice::quote_untrusted(text, limit);
  require(sluice::count_chars(quote) <= limit + 2);
  sluice::Tape tape;
  require(sluice::Tape::parse(quote, tape, 512, false).ok());
  for (size_t at = 0; at < quote.size();) {
    const sluice::CodePoint point = sluice::read_code_point(quote, at);
    require(!sluice::is_control(point.value));
    require(point.value != '<' && point.value != '[' && point.value != '`');
    at += point.length;
  }
  require(quote.find("://") == std::string::npos);
}

void check_preview(std::string_view text, size_t limit) {
  const std::string part = sluice::preview(text, limit);
  require(sluice::count_chars(part) <= limit);
  require(sluice::preview(text, text.size()).starts_with(part));
}

void check_description(std::string_view text, bool complete) {
  const auto seen = sluice::image::dimensions(as_bytes(text));
  require(!seen || (seen->width > 0 && seen->height > 0));
  sluice::Subject subject{
      {"image/x", "x", "image"}, text.size(), as_bytes(text), complete, "", false};
  require(sluice::count_chars(sluice::describe(subject)) <= 200);
  subject.type.mime_type = "text/plain";
  subject.text = true;
  require(sluice::count_chars(sluice::describe(subject)) <= 200);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t limit = data[0] % 96u;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_outline(text, limit + 1);
  check_quote(text, limit);
  check_preview(text, limit);
  check_description(text, (data[0] & 0x80) != 0);
  return 0;
}
