// Anything at all through describe, with both ends of a file, Outline, TextFacts, Tail,
// excerpt, quote_untrusted and preview. The first byte picks the block size and the limit.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "describe/facts.h"
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
  const std::string line = sluice::describe(subject);
  require(sluice::count_chars(line) <= 700);
  for (const char character : line) require(static_cast<uint8_t>(character) >= ' ');
  require(line.find("://") == std::string::npos);
}

/// Extensions of the kinds in wasm/src/describe/families.
constexpr const char* kFamilies[] = {"sqlite",   "iso", "rpm",  "qcow2", "vmdk",
                                     "squashfs", "sav", "grib", "bufr",  "pmtiles",
                                     "stl",      "fbx", "mid"};

/// A file whose ends are cut from `bytes`: where they meet or overlap, and of a file that is larger
/// by what lies between them.
void check_file(std::string_view bytes, size_t limit, bool between) {
  sluice::Subject subject;
  const size_t head = bytes.size() * (limit + 1) / 96;
  subject.head = as_bytes(bytes.substr(0, head));
  subject.tail = as_bytes(bytes.substr(between ? head : head / 2));
  subject.size_bytes = bytes.size() + (between ? uint64_t{limit} << 16 : 0);
  require(!sluice::wants_tail(subject.head) || head > 0);
  for (const auto& [mime, extension] :
       {std::pair{"application/x", "pdf"}, std::pair{"application/zip", "zip"},
        std::pair{"application/x", "xlsx"}, std::pair{"application/x", "docx"},
        std::pair{"application/x", "ods"}, std::pair{"application/x", "epub"},
        std::pair{"application/x", "doc"}, std::pair{"application/x", "xls"},
        std::pair{"application/x", "msg"}, std::pair{"audio/mpeg", "mp3"},
        std::pair{"video/mp4", "mp4"}, std::pair{"application/octet-stream", "bin"}}) {
    subject.type = {mime, extension, "file"};
    check_line(subject);
  }
  for (const char* extension : kFamilies) {
    std::string line;
    sluice::append_family_facts(line, {subject.head, subject.tail, subject.size_bytes}, extension);
    require(sluice::count_chars(line) <= 700);
  }
}

/// The same, begun and ended like a file of each family that one changed byte seldom leads to.
void check_families(std::string_view bytes, size_t limit, bool between) {
  using namespace std::string_view_literals;
  constexpr std::pair<size_t, std::string_view> kStamps[] = {
      {0, "FORM\0\0\0\0AIFFCOMM"sv},
      {0, "RIFF\0\0\0\0WAVEfmt \x10\0\0\0"sv},
      {0, "OggS\0\2"sv},
      {0, "%PDF-1.7\n1 0 obj"sv},
      {4, "ftypM4A \0\0\0\0\0\0\0\0moov"sv},
      {0, "fLaC\0\0\0\x22"sv},
      {0, "\xff\xfb\x90"sv},
      {0, "\x1f\x8b\x08\x0c"sv},
      {0, "\x1a\x45\xdf\xa3\x80\x15\x49\xa9\x66"sv},
      {0,
       "FLV\1\5\0\0\0\x09"
       "duration\0"sv},
      {0, "RIFF\0\0\0\0AVI LIST"sv},
      {0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv},
      {30, "\x09\0"sv},
      {128, "DICM"sv},
      {0, "II*\0\x08\0\0\0"sv},
      {0, "CDF\1\0\0\0\0"sv},
      {100, "\x0d\0\0\0\7"sv},
      {257, "ustar"sv},
      {769, "ustar"sv},
  };
  for (const auto& [at, stamp] : kStamps) {
    std::string file(bytes);
    if (file.size() < at + stamp.size()) continue;
    file.replace(at, stamp.size(), stamp);
    check_file(file, limit, between);
  }
  // The directory is all between the first header and the end record.
  std::string archive = "PK\3\4";
  archive += bytes;
  archive += "PK\5\6\0\0\0\0\1\0\1\0"sv;
  for (size_t i = 0; i < 4; ++i) archive += static_cast<char>(bytes.size() >> (8 * i) & 0xff);
  archive += "\4\0\0\0\0\0"sv;
  check_file(archive, limit, false);
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

void check_image(std::string_view bytes) {
  const auto seen = sluice::image::dimensions(as_bytes(bytes));
  require(!seen || (seen->width > 0 && seen->height > 0));
  sluice::Subject subject;
  subject.type = {"image/x", "x", "image"};
  subject.size_bytes = bytes.size();
  subject.head = as_bytes(bytes);
  check_line(subject);
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
  check_image(text);
  check_file(text, limit, (data[0] & 0x80) != 0);
  check_families(text, limit, (data[0] & 0x80) != 0);
  check_text(text, limit + 1);
  check_formats(text, limit + 1);
  check_tail(text, limit + 1);
  for (const char* begin : {"(", "<", "<FEFF", "(\xff\xfe"}) {
    require(sluice::pdf_text(begin + std::string(text)).size() <= 2'048);
  }
  return 0;
}
