// PDF (ISO 32000-1), as far as it is written plainly: what object streams hold is compressed.
#include <cstdint>

#include "describe/facts.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice {

// --- text strings (§7.3.4, §7.9.2.2) ---------------------------------------------------------

namespace {

/// Bytes of a string that are read.
constexpr size_t kMostBytes = 512;

int digit_of(char character, int base) {
  const char low = static_cast<char>(character | 0x20);
  const int value = character <= '9' ? character - '0' : low >= 'a' ? low - 'a' + 10 : -1;
  return value < base ? value : -1;
}

/// `<FEFF0041>`: white space does not count, a last digit alone has a 0 behind it.
std::string hex_string(std::string_view source) {
  std::string bytes;
  int high = -1;
  for (const char character : source.substr(1, 2 * kMostBytes)) {
    const int digit = digit_of(character, 16);
    if (digit < 0) {
      if (character == '>') break;
    } else if (high < 0) {
      high = digit;
    } else {
      bytes += static_cast<char>(high << 4 | digit);
      high = -1;
    }
  }
  if (high >= 0) bytes += static_cast<char>(high << 4);
  return bytes;
}

/// Reads what stands behind a backslash at `at` and moves to its last character.
void append_escaped_byte(std::string& bytes, std::string_view source, size_t& at) {
  constexpr std::string_view kNames = "nrtbf";
  constexpr std::string_view kBytes = "\n\r\t\b\f";
  int octal = 0;
  size_t digits = 0;
  for (; digits < 3 && at + digits < source.size(); ++digits) {
    const int digit = digit_of(source[at + digits], 8);
    if (digit < 0) break;
    octal = octal << 3 | digit;
  }
  if (digits > 0) {
    bytes += static_cast<char>(octal);
    at += digits - 1;
    return;
  }
  const char character = source[at];
  if (character == '\r' || character == '\n') {  // the line goes on
    if (source.substr(at, 2) == "\r\n") ++at;
    return;
  }
  const size_t name = kNames.find(character);
  bytes += name < kNames.size() ? kBytes[name] : character;
}

/// `(a (balanced) \(string\) \101)`.
std::string literal_string(std::string_view source) {
  std::string bytes;
  int depth = 0;
  for (size_t at = 0; at < source.size() && bytes.size() < kMostBytes; ++at) {
    const char character = source[at];
    if (character == '\\') {
      if (++at < source.size()) append_escaped_byte(bytes, source, at);
      continue;
    }
    depth += character == '(' ? 1 : character == ')' ? -1 : 0;
    if (depth == 0) break;
    if (at > 0) bytes += character;
  }
  return bytes;
}

std::string from_utf16(std::string_view bytes, bool big) {
  std::string text;
  uint32_t high = 0;
  for (size_t at = 2; at + 1 < bytes.size(); at += 2) {
    const auto unit = static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + (big ? 0 : 1)]) << 8 |
                                            static_cast<uint8_t>(bytes[at + (big ? 1 : 0)]));
    if (unit >> 10 == 0x36) {
      high = unit;
      continue;
    }
    const bool pair = unit >> 10 == 0x37 && high != 0;
    append_code_point(text, pair ? 0x10000 + ((high & 0x3ff) << 10 | (unit & 0x3ff)) : unit);
    high = 0;
  }
  return text;
}

/// PDFDocEncoding (ISO 32000-1 annex D.2): Latin-1 but for these.
std::string from_pdf_doc(std::string_view bytes) {
  static constexpr char16_t kFrom18[] = u"\u02d8\u02c7\u02c6\u02d9\u02dd\u02db\u02da\u02dc";
  static constexpr char16_t kFrom80[] =
      u"\u2022\u2020\u2021\u2026\u2014\u2013\u0192\u2044\u2039\u203a\u2212\u2030\u201e\u201c\u201d"
      u"\u2018\u2019\u201a\u2122\ufb01\ufb02\u0141\u0152\u0160\u0178\u017d\u0131\u0142\u0153\u0161"
      u"\u017e\ufffd\u20ac";
  std::string text;
  for (const char character : bytes) {
    const auto byte = static_cast<uint8_t>(character);
    const uint32_t point = byte >= 0x80 && byte <= 0xa0   ? kFrom80[byte - 0x80]
                           : byte >= 0x18 && byte <= 0x1f ? kFrom18[byte - 0x18]
                                                          : byte;
    append_code_point(text, point);
  }
  return text;
}

}  // namespace

std::string pdf_text(std::string_view source) {
  std::string bytes;
  if (source.starts_with('(')) bytes = literal_string(source);
  if (source.starts_with('<')) bytes = hex_string(source);
  if (bytes.starts_with("\xfe\xff")) return from_utf16(bytes, true);
  if (bytes.starts_with("\xff\xfe")) return from_utf16(bytes, false);
  if (bytes.starts_with("\xef\xbb\xbf")) return bytes.substr(3);
  return from_pdf_doc(bytes);
}

// --- facts -----------------------------------------------------------------------------------

namespace {

constexpr std::string_view kSpace{"\0\t\n\f\r ", 6};
/// More pages than any document has.
constexpr uint64_t kMostPages = 10'000'000;
/// Bytes in which readers look for the header, and for a linearized document's first object.
constexpr size_t kFirstObject = 1024;

std::string_view trimmed(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kSpace), text.size()));
}

/// Whether a name ends before `text[at]`: `/N` is not `/Names`.
bool ends_name(std::string_view text, size_t at) {
  if (at >= text.size()) return true;
  return !is_alphanumeric(text[at]);
}

/// What stands behind the name `/key` in `text`, white space skipped; empty when there is no such
/// name.
std::string_view behind_name(std::string_view text, std::string_view key) {
  for (size_t at = 0; (at = text.find(key, at)) != text.npos;) {
    at += key.size();
    if (ends_name(text, at)) return trimmed(text.substr(at));
  }
  return {};
}

/// The whole number that begins `text`; 0 when there is none, or none that a file could mean.
uint64_t number_of(std::string_view text) {
  constexpr size_t kMostDigits = 15;
  uint64_t value = 0;
  for (const char character : text.substr(0, kMostDigits)) {
    if (!is_digit(character)) break;
    value = value * 10 + static_cast<uint64_t>(character - '0');
  }
  return value;
}

/// What a document says of itself.
struct Facts {
  uint64_t pages = 0;
  std::string title;
  std::string_view metadata;  ///< the title there
  bool encrypted = false;
};

/// The text that XMP metadata give as the title, `<dc:title><rdf:Alt><rdf:li …>text</rdf:li>`.
std::string_view xmp_title(std::string_view text) {
  constexpr size_t kMostMarkup = 2048;
  const size_t begin = text.find("<dc:title");
  if (begin == text.npos) return {};
  text = text.substr(begin, kMostMarkup);
  const size_t item = text.find("<rdf:li");
  const size_t from = text.find('>', std::min(item, text.size()));
  const size_t to = text.find("</rdf:li", std::min(from, text.size()));
  return to == text.npos ? std::string_view() : text.substr(from + 1, to - from - 1);
}

/// The root of the page tree, or the document's information: both are objects that have no parent,
/// which pages, inner nodes of the tree, and outlines have.
void look_at_object(std::string_view object, Facts& facts) {
  object = object.substr(0, object.find("stream"));
  if (!behind_name(object, "/Parent").empty()) return;
  const std::string_view type = behind_name(object, "/Type");
  if (type.starts_with("/Pages") && ends_name(type, 6)) {
    const uint64_t count = number_of(behind_name(object, "/Count"));
    if (count > 0) facts.pages = count;
  }
  const bool information = !behind_name(object, "/Producer").empty() ||
                           !behind_name(object, "/Creator").empty() ||
                           !behind_name(object, "/CreationDate").empty();
  if (!information) return;
  std::string title = pdf_text(behind_name(object, "/Title"));
  if (!title.empty()) facts.title = std::move(title);
}

/// `12 0 obj … endobj`, one after the other; of two that say the same the later counts, as it does
/// where a document was saved incrementally.
void look_at(std::string_view text, Facts& facts) {
  facts.encrypted = facts.encrypted || number_of(behind_name(text, "/Encrypt")) > 0;
  if (const std::string_view title = xmp_title(text); !title.empty()) facts.metadata = title;
  for (size_t at = 0; (at = text.find(" obj", at)) != text.npos;) {
    const size_t end = text.find("endobj", at);
    if (end == text.npos) break;
    look_at_object(text.substr(at, end - at), facts);
    at = end;
  }
}

/// A linearized document's first object has the number of pages, and the length of the file unless
/// something was appended since (annex F.2.2).
uint64_t linearized_pages(const Glimpse& file) {
  std::string_view text = as_text(file.head).substr(0, kFirstObject);
  text = text.substr(0, text.find("endobj"));
  if (behind_name(text, "/Linearized").empty()) return 0;
  if (number_of(behind_name(text, "/L")) != file.size) return 0;
  return number_of(behind_name(text, "/N"));
}

}  // namespace

void append_pdf_facts(std::string& line, const Glimpse& file) {
  if (as_text(file.head).substr(0, kFirstObject).find("%PDF-") == std::string_view::npos) return;
  Facts facts;
  look_at(as_text(file.head), facts);
  if (file.tail.data() != file.head.data()) look_at(as_text(file.tail), facts);
  if (facts.pages == 0) facts.pages = linearized_pages(file);
  if (facts.pages > 0 && facts.pages <= kMostPages) append_count(line, facts.pages, "page");
  if (facts.encrypted) line += ", encrypted";  // and with the file its strings
  const bool plain = !facts.encrypted && !facts.title.empty();
  Quotes(line, ", title").add(plain ? facts.title : facts.metadata);
}

}  // namespace sluice
