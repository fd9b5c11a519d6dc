#include "layers/splicer.h"

namespace sluice::layers {

namespace {

/// Whether the marker at `at` is all of a string, and that string is a value and not a key. A quote
/// in front that opens no string has a backslash before it.
bool is_whole_value(std::string_view text, size_t at) {
  const size_t behind = at + kMarkerBytes;
  if (text[at - 1] != '"' || text[behind] != '"') return false;
  if (at >= 2 && text[at - 2] == '\\') return false;
  const size_t next = text.find_first_not_of(" \t\r\n", behind + 1);
  return next == std::string_view::npos || text[next] != ':';
}

/// Whether a character behind a reference would be read as part of it.
bool continues_uri(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '&' ||
         c == '=' || c == '%' || c == '-' || c == '_' || c == '/' || c == '+';
}

void append(std::string& out, const Document& document, size_t node, const Notes& notes,
            bool objects) {
  const std::string_view text = document.text();
  size_t copied = document.tape()[node].begin;
  for (const Mark& mark : document.marks(node)) {
    const bool object = objects && is_whole_value(text, mark.offset);
    const size_t end = mark.offset - (object ? 1 : 0);
    out += text.substr(copied, end - copied);
    out += object ? notes.artifact(mark.segment) : notes.uri(mark.segment, false);
    copied = mark.offset + kMarkerBytes + (object ? 1 : 0);
    if (!object && continues_uri(text[copied])) out += ' ';
  }
  out += text.substr(copied, document.tape()[node].end - copied);
}

}  // namespace

void append_showing(std::string& out, const Document& document, size_t node, const Notes& notes) {
  append(out, document, node, notes, true);
}

void append_referring(std::string& out, const Document& document, size_t node, const Notes& notes) {
  append(out, document, node, notes, false);
}

void append_member(std::string& out, const Document& document, size_t value, const Notes& notes) {
  append_referring(out, document, value - 1, notes);
  out += ':';
  append_showing(out, document, value, notes);
}

}  // namespace sluice::layers
