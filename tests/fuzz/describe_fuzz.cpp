// Anything at all through describe, Outline, TextFacts, Tail, excerpt, quote_untrusted and preview.
// The first byte picks the block size and the limit.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "sluice/describe.h"
#include "sluice/tape.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace {

using sluice::as_bytes;
using sluice::is_among;

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
    require(point.value != '[' && point.value != ']' && point.value != '`');
    at += point.length;
  }
  for (size_t at = 1; at + 1 < quote.size(); ++at) {
    const std::string_view last(quote.data(), at);
    if (quote[at] == '<') require(is_among(quote[at + 1], " =<-0123456789\"\xe2"));
    if (quote[at] == '>') require(is_among(quote[at - 1], " =->") && !last.ends_with("--"));
    if (quote[at] == '(') require(!last.ends_with("❳") && !last.ends_with("❳ "));
  }
  require(quote.find("://") == std::string::npos);
}

void check_preview(std::string_view text, size_t limit) {
  const std::string part = sluice::preview(text, limit);
  require(sluice::count_chars(part) <= limit);
  require(sluice::preview(text, text.size()).starts_with(part));
}

/// A preview is short, shows nothing that steers, cuts nothing in two and does not speak like us.
void check_excerpt(const sluice::Subject& subject) {
  sluice::Segment segment;
  sluice::add_excerpts(subject, segment);
  for (const std::string& shown : {segment.excerpt, segment.error_excerpt}) {
    std::string bare;
    for (size_t at = 0; at < shown.size();) {
      if (shown[at] == sluice::kMarkerOpen) {
        require(sluice::marker_at(shown, at) >= 0);
        at += sluice::kMarkerBytes;
        continue;
      }
      const sluice::CodePoint point = sluice::read_code_point(shown, at);
      require(point.value == '\n' || point.value == '\t' || !sluice::is_control(point.value));
      require(!sluice::is_invisible(point.value));
      if (point.value != ' ') bare.append(shown, at, point.length);
      at += point.length;
    }
    require(sluice::count_chars(shown) <= sluice::kPreviewChars);
    require(sluice::lowered(bare).find("[sluice]") == std::string::npos);
  }
}

/// Facts and quotes together stay one line that a model may read.
void check_line(const sluice::Subject& subject) {
  sluice::Segment segment;
  sluice::describe(subject, segment);
  const std::string& line = segment.description;
  require(sluice::count_chars(line) <= 700);
  for (const char character : line) require(static_cast<uint8_t>(character) >= ' ');
  require(line.find("://") == std::string::npos);
}

void check_text(std::string_view text, size_t block) {
  sluice::Subject whole;
  whole.type = {"text/plain", "txt", "text"};
  whole.head = as_bytes(text.substr(0, sluice::kDescribeHead));
  whole.size_bytes = text.size();
  whole.text = true;
  sluice::Subject pieces = whole;
  sluice::tell_text(text, whole);
  const std::string_view head = text.substr(0, sluice::kSniffHead);
  sluice::TextFacts facts(head);
  for (size_t at = head.size(); at < text.size(); at += block) {
    facts.push(as_bytes(text.substr(at, block)));
  }
  facts.tell(pieces);
  require(whole.type == pieces.type && whole.outline == pieces.outline);
  require(whole.lines == pieces.lines && whole.table == pieces.table);
  whole.tail = as_bytes(text.substr(text.size() - std::min(text.size(), sluice::kExcerptTail)));
  check_excerpt(whole);
  require(whole.token == pieces.token && whole.parts == pieces.parts);
  check_line(whole);
  whole.type = {"text/html", "html", "HTML"};
  check_excerpt(whole);
  whole.type = {"application/json", "json", "JSON"};
  check_excerpt(whole);
  check_line(whole);
}

/// Texts that begin like one of a known format.
void check_formats(std::string_view text, size_t block) {
  for (const char* begin :
       {"From: a\nTo: b\nSubject: =?utf-8?B?", "<rss><title>", "WEBVTT\n", "BEGIN:VCARD\n",
        "{\"type\":\"FeatureCollection\",\"features\":[", "ply\nelement face ", ">a\nACGT\n"}) {
    check_text(begin + std::string(text), block);
  }
}

void check_tail(std::string_view bytes, size_t block) {
  const std::string_view head = bytes.substr(0, bytes.size() / 2);
  sluice::Tail tail;
  for (size_t at = head.size(); at < bytes.size(); at += block) tail.push(bytes.substr(at, block));
  const std::string kept = tail.finish(head);
  require(kept.size() <= sluice::kDescribeTail && bytes.ends_with(kept));
  require(kept.size() == bytes.size() || kept.size() == sluice::kDescribeTail);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t limit = data[0] % 96u;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_outline(text, limit + 1);
  check_quote(text, limit);
  check_preview(text, limit);
  check_text(text, limit + 1);
  check_formats(text, limit + 1);
  check_tail(text, limit + 1);
  return 0;
}
