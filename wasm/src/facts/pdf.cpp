// PDF (ISO 32000-1), its objects and object streams as far as both ends of a file show them.
#include <cstdint>

#include "describe/evidence.h"
#include "describe/markup.h"
#include "facts/inflate.h"
#include "facts/kinds.h"
#include "sluice/facts.h"
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
  if (bytes.starts_with("\xfe\xff")) return decode_wide(bytes.substr(2), 2, true);
  if (bytes.starts_with("\xff\xfe")) return decode_wide(bytes.substr(2), 2, false);
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

/// What a document says of itself.
struct Facts {
  uint64_t pages = 0;
  std::string title;
  std::string metadata;      ///< the title there
  uint64_t information = 0;  ///< the number of the object that has the title
  uint64_t reference = 0;    ///< the number of the object that is the title
  bool encrypted = false;
  bool form = false;
  bool is_signed = false;
  std::string level;    ///< of PDF/A: `2B`
  size_t unpacked = 0;  ///< bytes of object streams
};

/// Bytes that object streams are unpacked to, of one and of all.
constexpr size_t kStreamBytes = 65'536;
constexpr size_t kAllStreamBytes = 262'144;

/// What XMP metadata say: `<dc:title><rdf:Alt><rdf:li …>text</rdf:li>`, and the level of PDF/A as
/// elements or attributes.
void look_at_metadata(std::string_view text, Facts& facts) {
  constexpr size_t kMostMarkup = 2048;
  const size_t begin = text.find("<dc:title");
  if (begin != text.npos) {
    std::string title = read_element(text.substr(begin, kMostMarkup), "rdf:li");
    if (!title.empty()) facts.metadata = std::move(title);
  }
  constexpr std::string_view kPart = "pdfaid:part";
  const size_t at = text.find(kPart);
  if (at == text.npos) return;
  const size_t digit = text.substr(0, at + kPart.size() + 4).find_first_of("1234", at);
  if (digit == text.npos) return;
  facts.level = text[digit];
  constexpr std::string_view kLevel = "pdfaid:conformance";
  const size_t behind = text.find(kLevel);
  if (behind == text.npos) return;
  const size_t letter = text.find_first_of("ABU", behind + kLevel.size());
  if (letter < behind + kLevel.size() + 4) facts.level += text[letter];
}

/// The number of the object that a reference `12 0 R` means; 0 for anything else.
uint64_t read_reference(std::string_view text) {
  const uint64_t number = read_number(text);
  const size_t end = text.find_first_not_of("0123456789 ");
  return end != text.npos && text[end] == 'R' ? number : 0;
}

/// The root of the page tree, or the document's information: both are objects that have no parent,
/// which pages, inner nodes of the tree, and outlines have.
void look_at_object(std::string_view object, uint64_t number, Facts& facts) {
  if (number != 0 && number == facts.reference) {
    std::string title = pdf_text(trimmed(object));
    if (!title.empty()) facts.title = std::move(title);
  }
  const std::string_view type = behind_name(object, "/Type");
  facts.is_signed =
      facts.is_signed || type.starts_with("/Sig") || !behind_name(object, "/ByteRange").empty();
  if (!behind_name(object, "/Parent").empty()) return;
  if (type.starts_with("/Pages") && ends_name(type, 6)) {
    const uint64_t count = read_number(behind_name(object, "/Count"));
    if (count > 0) facts.pages = count;
  }
  const std::string_view fields = behind_name(object, "/Fields");
  if (!fields.empty() && !trimmed(fields.substr(1)).starts_with(']')) facts.form = true;
  const bool information =
      (number != 0 && number == facts.information) || !behind_name(object, "/Producer").empty() ||
      !behind_name(object, "/Creator").empty() || !behind_name(object, "/CreationDate").empty();
  if (!information) return;
  const std::string_view value = behind_name(object, "/Title");
  if (const uint64_t reference = read_reference(value); reference > 0) facts.reference = reference;
  std::string title = pdf_text(value);
  if (!title.empty()) facts.title = std::move(title);
}

/// The objects of an object stream (§7.5.7): pairs of number and offset, then the objects from
/// /First on.
void look_at_stream(std::string_view dictionary, std::string_view packed, Facts& facts) {
  const std::string bytes = inflate_wrapped(as_bytes(packed), kStreamBytes);
  facts.unpacked += bytes.size();
  const uint64_t first = read_number(behind_name(dictionary, "/First"));
  if (first >= bytes.size()) return;
  std::string_view pairs = std::string_view(bytes).substr(0, static_cast<size_t>(first));
  const auto take = [&pairs] {
    pairs = trimmed(pairs);
    const uint64_t number = read_number(pairs);
    pairs.remove_prefix(std::min(pairs.find_first_not_of("0123456789"), pairs.size()));
    return number;
  };
  uint64_t number = take();
  for (uint64_t at = first + take(); at < bytes.size();) {
    const uint64_t next = take();
    const uint64_t end = trimmed(pairs).empty() ? bytes.size() : first + take();
    if (end <= at) break;
    look_at_object(
        std::string_view(bytes).substr(static_cast<size_t>(at), static_cast<size_t>(end - at)),
        number, facts);
    number = next;
    at = end;
  }
}

/// `12 0 obj … endobj`, one after the other; of two that say the same the later counts, as it does
/// where a document was saved incrementally.
void look_at(std::string_view text, Facts& facts) {
  facts.encrypted = facts.encrypted || read_number(behind_name(text, "/Encrypt")) > 0;
  look_at_metadata(text, facts);
  if (const uint64_t number = read_reference(behind_name(text, "/Info")); number > 0) {
    facts.information = number;
  }
  for (size_t at = 0; (at = text.find(" obj", at)) != text.npos;) {
    const size_t end = text.find("endobj", at);
    if (end == text.npos) break;
    const std::string_view object = text.substr(at + 4, end - at - 4);
    const size_t begin = object.find("stream");
    const std::string_view dictionary = object.substr(0, begin);
    // `12 0 obj`, backwards: the generation, then the number.
    size_t from = at;
    for (int i = 0; i < 2; ++i) {
      while (from > 0 && is_digit(text[from - 1])) --from;
      if (i == 0 && from > 0) --from;
    }
    look_at_object(dictionary, read_number(text.substr(from)), facts);
    if (begin != object.npos && facts.unpacked < kAllStreamBytes &&
        behind_name(dictionary, "/Type").starts_with("/ObjStm")) {
      const std::string_view packed = object.substr(begin + 6);
      look_at_stream(dictionary,
                     packed.substr(std::min(packed.find_first_not_of("\r\n"), packed.size())),
                     facts);
    }
    at = end;
  }
}

/// A linearized document's first object has the number of pages, and the length of the file unless
/// something was appended since (annex F.2.2).
uint64_t linearized_pages(const Glimpse& file) {
  std::string_view text = as_text(file.head).substr(0, kFirstObject);
  text = text.substr(0, text.find("endobj"));
  if (behind_name(text, "/Linearized").empty()) return 0;
  if (read_number(behind_name(text, "/L")) != file.size) return 0;
  return read_number(behind_name(text, "/N"));
}

}  // namespace

void append_pdf_facts(std::string& line, const Glimpse& file) {
  if (as_text(file.head).substr(0, kFirstObject).find("%PDF-") == std::string_view::npos) return;
  Facts facts;
  look_at(as_text(file.head), facts);
  if (file.tail.data() != file.head.data()) look_at(as_text(file.tail), facts);
  // A title or an object stream may stand before what refers to it.
  if (facts.reference != 0 && facts.title.empty()) {
    look_at(as_text(file.head), facts);
    look_at(as_text(file.tail), facts);
  }
  if (facts.pages == 0) facts.pages = linearized_pages(file);
  if (facts.pages > 0 && facts.pages <= kMostPages) append_count(line, facts.pages, "page");
  if (facts.encrypted) line += ", encrypted";  // and with the file its strings
  if (facts.is_signed) line += ", signed";
  if (facts.form) line += ", with a form";
  if (!facts.level.empty()) line += ", PDF/A-" + lowered(facts.level);
  const bool plain = !facts.encrypted && !facts.title.empty();
  Quotes(line, ", title").add(plain ? facts.title : facts.metadata);
}

std::string tell_pdf_facts(std::string_view evidence) {
  Subject subject;
  Glimpse file;
  if (!read_evidence(evidence, subject, file)) return {};
  std::string line = subject.type.label + ", " + human_size(subject.size_bytes);
  append_pdf_facts(line, file);
  return line;
}

}  // namespace sluice
