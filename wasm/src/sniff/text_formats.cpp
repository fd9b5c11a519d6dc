// Formats made of text: PostScript, and what begins with an angle bracket.
#include <algorithm>
#include <string>

#include "sniff/recognisers.h"
#include "text/ascii.h"

namespace sluice {

std::string_view behind_doctype(std::string_view text) {
  size_t end = text.find_first_of("[>");
  if (end != text.npos && text[end] == '[') {
    end = text.find(']', end);
    if (end != text.npos) end = text.find('>', end);
  }
  return end == text.npos ? std::string_view{} : text.substr(end + 1);
}

namespace sniffing {

namespace {

constexpr std::string_view kSpace = " \t\r\n\f";
constexpr std::string_view kDoctype = "<!doctype";

std::string_view skip_space(std::string_view text) {
  const size_t at = text.find_first_not_of(kSpace);
  return at == text.npos ? std::string_view{} : text.substr(at);
}

/// Whether `text` begins with `word` (lower case), ASCII case ignored.
bool begins(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && std::equal(word.begin(), word.end(), text.begin(),
                                                  [](char a, char b) { return a == to_lower(b); });
}

/// Whether `text` begins with the tag `name`, wholly visible.
bool begins_tag(std::string_view text, std::string_view name) {
  if (text.empty() || text[0] != '<' || !begins(text.substr(1), name)) return false;
  const std::string_view rest = text.substr(1 + name.size());
  return !rest.empty() && (is_among(rest[0], kSpace) || rest[0] == '>' || rest[0] == '/');
}

/// `<svg` or `<any:svg`.
bool begins_svg(std::string_view text) {
  if (text.empty() || text[0] != '<') return false;
  const std::string_view name = text.substr(1, text.find_first_of(" \t\r\n\f>/", 1) - 1);
  const bool visible = 1 + name.size() < text.size();
  return visible && (name == "svg" || (name.size() <= 64 && name.ends_with(":svg")));
}

/// The name in a document type declaration, in lower case; empty when its end is not visible.
std::string doctype_name(std::string_view text) {
  text = skip_space(text.substr(kDoctype.size()));
  const size_t end = text.find_first_of(" \t\r\n\f>[");
  return lowered(text.substr(0, end > 16 ? 0 : end));
}

/// What stands before the root element, and the text from the root on.
struct Prolog {
  bool xml = false;
  std::string doctype;    ///< its name, e.g. `html`
  std::string_view root;  ///< empty when it is beyond the head
};

Prolog read_prolog(std::string_view text) {
  Prolog prolog;
  text = skip_space(text);
  while (!text.empty()) {
    size_t end = 0;
    if (text.starts_with("<?")) {
      if (begins(text, "<?xml ") || begins(text, "<?xml\t")) prolog.xml = true;
      end = text.find("?>");
      if (end != text.npos) end += 2;
    } else if (text.starts_with("<!--")) {
      end = text.find("-->", 4);
      if (end != text.npos) end += 3;
    } else if (begins(text, kDoctype) && prolog.doctype.empty()) {
      prolog.doctype = doctype_name(text);
      text = skip_space(behind_doctype(text));
      continue;
    } else {
      break;
    }
    text = end == text.npos ? std::string_view{} : skip_space(text.substr(end));
  }
  prolog.root = text;
  return prolog;
}

/// A piece of a page, `<h2>Rows</h2>\n<table>…`: it begins with a tag that pieces begin with, and
/// so do three lines of four. Markdown begins with such tags, too, and goes on in its own way.
bool is_fragment(std::string_view root) {
  constexpr std::string_view kFirst[] = {"div", "h1", "h2", "h3", "h4",      "h5",      "h6",
                                         "p",   "ul", "ol", "dl", "article", "section", "table"};
  constexpr size_t kLook = 2'048;
  const auto opens = [&](std::string_view name) { return begins_tag(root, name); };
  if (std::none_of(std::begin(kFirst), std::end(kFirst), opens)) return false;
  size_t tags = 0;
  size_t others = 0;
  for (std::string_view rest = skip_space(root.substr(0, kLook)); !rest.empty();) {
    ++(rest[0] == '<' ? tags : others);
    const size_t end = rest.find('\n');
    rest = end == rest.npos ? std::string_view{} : skip_space(rest.substr(end));
  }
  return tags >= 3 * others;
}

}  // namespace

//   %!PS-Adobe-3.0 EPSF-3.0      an encapsulated one says so in its first line
std::optional<Match> postscript(Bytes head) {
  const std::string_view text = as_text(head);
  const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  if (line.find(" EPSF-") != line.npos) return Match{Kind::eps};
  // The short form stands alone in its line; `%!PSeudo` is none.
  const std::string_view rest = line.substr(line.find("%!PS") + 4);
  const bool whole = rest.starts_with("-Adobe-") || (rest.empty() && line.size() < text.size());
  return whole ? std::optional(Match{Kind::postscript}) : std::nullopt;
}

/// SVG, HTML and other XML, behind a byte-order mark, declarations and comments. The document type
/// or the root element tells; XML whose root is out of sight is just XML.
std::optional<Match> marked_up(Bytes head) {
  std::string_view text = as_text(head);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text = skip_space(text);
  if (text.empty() || text[0] != '<') return std::nullopt;

  const Prolog prolog = read_prolog(text);
  if (begins_svg(prolog.root) || prolog.doctype == "svg") return Match{Kind::svg};
  if (begins_tag(prolog.root, "html") || prolog.doctype == "html") return Match{Kind::html};
  if (prolog.xml) return Match{Kind::xml};
  if (is_fragment(prolog.root)) return Match{Kind::html};
  return std::nullopt;
}

}  // namespace sniffing

}  // namespace sluice
