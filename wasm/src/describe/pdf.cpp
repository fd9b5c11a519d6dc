// PDF (ISO 32000-1), as far as it is written plainly: what object streams hold is compressed.
#include "describe/facts.h"
#include "describe/families.h"
#include "describe/pdf_text.h"

namespace sluice {
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
  const char low = static_cast<char>(text[at] | 0x20);
  return (low < 'a' || low > 'z') && (text[at] < '0' || text[at] > '9');
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
    if (character < '0' || character > '9') break;
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
  Quotes(line).add(plain ? facts.title : facts.metadata);
}

}  // namespace sluice
