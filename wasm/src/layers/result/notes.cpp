#include "layers/result/notes.h"

#include <algorithm>

#include "json/object.h"
#include "layers/result/references.h"
#include "sluice/describe.h"
#include "sluice/sniff.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice::layers {

namespace {

constexpr size_t kMaxLines = 8;
constexpr size_t kMaxPreviews = 8;
constexpr std::string_view kNotStored = " Note: content not stored.";
constexpr const char* kLost = " It cannot be read back.";

/// The position of the first word that is longer than a preview and may be an encoding (it has
/// upper case, lower case and digits), or the end of the text.
size_t encoded_word(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    bool upper = false, lower = false, digit = false;
    for (; at < text.size() && text[at] != '\n' && looks_encoded(text.substr(at, 1)); ++at) {
      upper = upper || is_upper(text[at]);
      lower = lower || is_lower(text[at]);
      digit = digit || is_digit(text[at]);
    }
    if (at - begin > kPreviewChars && upper && lower && digit) return begin;
    ++at;
  }
  return text.size();
}

/// Cut JSON source up to its last complete element or member, with all containers closed. Empty if
/// nothing is complete.
std::string closed_json(std::string_view source) {
  std::string open;  // the brackets that close what is open
  std::string open_there;
  size_t end = 0;
  bool inside = false;
  for (size_t at = 0; at < source.size(); ++at) {
    const char c = source[at];
    if (inside) {
      if (c == '\\') ++at;
      inside = c != '"';
    } else if (c == '"') {
      inside = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if ((c == '}' || c == ']') && !open.empty()) {
      open.pop_back();
    } else if (c == ',') {
      end = at;
      open_there = open;
    }
  }
  if (open.empty() && !inside) return std::string(source);
  if (end == 0) return {};
  return std::string(source.substr(0, end)).append(open_there.rbegin(), open_there.rend());
}

bool ends_sentence(std::string_view text) {
  return text.ends_with('.') || text.ends_with('!') || text.ends_with('?') || text.ends_with("…");
}

/// Each line behind a mark, so that none of them begins like one of ours.
std::string marked(std::string_view lines) {
  std::string out;
  for (size_t at = 0; at <= lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    out.append("\n> ").append(lines, at, end - at);
    at = end + 1;
  }
  return out;
}

std::string label_of(const Segment& segment, const About& about) {
  if (!about.label.empty()) return about.label;
  const FileType type = type_of_mime(segment.mime_type);
  return type.label.empty() ? segment.mime_type : type.label;
}

/// Whether a text was sent in base64, without anything that says so. What a host gives as bytes is
/// counted with the quotes that it would have.
bool is_base64_of_text(const Segment& segment, const About& about) {
  const bool said = !segment.declared.empty() || !about.declared.empty();
  const bool given = segment.chars == (segment.bytes + 2) / 3 * 4 + 2;
  const bool base64 =
      segment.form.encoding == Encoding::base64 || segment.form.encoding == Encoding::base64url;
  const bool encoded =
      segment.kind == SegmentKind::run && base64 && !segment.bare && !said && !given;
  return encoded && is_text_type(segment.mime_type);
}

}  // namespace

std::string note_as_block(std::string_view note) {
  return Object().text("type", "text").text("text", note).end();
}

bool Notes::is_stored(uint32_t segment) const {
  const std::optional<Stored>& stored = table_.about(segment).stored;
  return stored && stored->warning.empty();
}

std::string Notes::uri(uint32_t segment, bool with_form) const {
  return reference(table_.segment(segment), table_.id(segment), with_form);
}

std::string Notes::name(uint32_t segment) const {
  const std::optional<Stored>& stored = table_.about(segment).stored;
  return stored && !stored->filename.empty() ? stored->filename : table_.filename(segment);
}

std::string Notes::template_of(uint32_t segment) const {
  const std::string& own = table_.about(segment).summary_template;
  return own.empty() ? config_.default_summary_template : own;
}

std::string Notes::words(uint32_t index, bool previewed) const {
  const Segment& segment = table_.segment(index);
  const About& about = table_.about(index);
  std::string text(previewed ? without_first_line(segment.description) : segment.description);
  if (text.empty()) text = label_of(segment, about) + ", " + human_size(segment.bytes);
  if (is_base64_of_text(segment, about)) text.insert(0, "base64 of ");
  if (const std::string words = template_of(index); !words.empty()) {
    std::vector<Value> values;
    const auto add = [&](const char* key, std::string value, bool ours) {
      values.push_back({key, std::move(value), ours});
    };
    add("content_type", label_of(segment, about), true);
    add("filename", name(index), false);
    add("size", std::to_string(segment.bytes), true);
    add("size_human", human_size(segment.bytes), true);
    add("artifact_id", table_.id(index), true);
    add("description", text, true);
    values.insert(values.end(), about.siblings.begin(), about.siblings.end());
    text = expand_template(words, values);
  }
  text += files_inside(index);
  if (const size_t lost = lost_inside(index); lost > 0 && is_stored(index)) {
    text +=
        " (" + grouped(lost) + (lost == 1 ? " file" : " files") + " inside it could not be stored)";
  }
  return text;
}

// ` with PNG image, 1.9 KB inside: artifact://…`
std::string Notes::files_inside(uint32_t index) const {
  constexpr size_t kMostNamed = 3;
  std::string text;
  size_t named = 0;
  for (const uint32_t file : table_.segment(index).inner) {
    if (!is_stored(file)) continue;
    if (named == kMostNamed) return text + " and more";
    text += named++ == 0 ? ", with files inside: " : ", ";
    text += table_.about(file).summary_template.empty()
                ? label_of(table_.segment(file), table_.about(file)) + ", " +
                      human_size(table_.segment(file).bytes)
                : words(file);
    text += " (" + plain_uri(table_.id(file)) + ")";
  }
  return text;
}

std::string Notes::summary(uint32_t index, bool previewed) const {
  std::string text = words(index, previewed);
  if (is_stored(index)) return text;
  if (!ends_sentence(text)) text += '.';
  return text.append(kNotStored).append(what_is_left(index, SIZE_MAX));
}

// Recursion ends, because a segment is inside at most one other.
size_t Notes::lost_inside(uint32_t index) const {
  size_t lost = 0;
  for (const uint32_t inner : table_.segment(index).inner) {
    lost += is_stored(inner) ? lost_inside(inner) : 1;
  }
  return lost;
}

// What is available of something that was not stored, if at most `shown_chars` characters of it are
// shown.
std::string Notes::what_is_left(uint32_t index, size_t shown_chars) const {
  const Segment& segment = table_.segment(index);
  const std::string shown = beginning(index);
  if (shown.empty()) return kLost;
  if (segment.previewed_whole && encoded_word(segment.preview) == segment.preview.size() &&
      count_chars(shown) <= shown_chars) {
    return lost_inside(index) == 0 ? " All of it is shown."
                                   : " All of it is shown except the files inside it.";
  }
  return " Its beginning is shown; the rest cannot be read back.";
}

std::string Notes::beginning(uint32_t index) const {
  const Segment& segment = table_.segment(index);
  if (is_stored(index) || segment.kind == SegmentKind::run) return {};
  return with_uris(segment.preview.substr(0, encoded_word(segment.preview)));
}

void Notes::append_artifact(std::string& out, uint32_t index) const {
  const Segment& segment = table_.segment(index);
  const std::optional<Stored>& stored = table_.about(index).stored;
  const size_t before = out.size();
  Object artifact;
  artifact.text("id", table_.id(index))
      .text("mime_type", segment.mime_type)
      .number("size_bytes", segment.bytes)
      .text("filename", name(index));
  if (!is_stored(index)) {
    std::string_view warning = "Content not stored";
    if (stored) warning = stored->warning;
    artifact.source("source", Object().text("warning", warning).flag("truncated", true).end());
  }
  append_key(out, "artifact");
  out += artifact.end();
  std::string shown = beginning(index);
  std::string json;
  if (segment.kind == SegmentKind::json) json = closed_json(shown);
  Tape tape;
  const bool is_json = !json.empty() && Tape::parse(json, tape).ok();
  if (shown.empty()) shown = excerpt(index);
  // Bytes may be few. A text is never shorter, but where somebody asked for it to be diverted.
  const size_t longer = out.size() - before + shown.size();
  if (segment.kind == SegmentKind::run && longer >= segment.chars) shown.clear();
  append_key(out, "summary");
  out += json_string(summary(index, !shown.empty()));
  if (shown.empty()) return;
  append_key(out, is_json ? "beginning" : "preview");
  out += is_json ? json : json_string(shown);
  if (is_json || segment.values.empty()) return;
  append_key(out, "values");
  out += json_string(with_uris(segment.values));
}

std::string Notes::artifact(uint32_t segment) const {
  std::string out = "{";
  append_artifact(out, segment);
  out += '}';
  return out;
}

std::string Notes::with_uris(std::string_view text) const {
  return replace_markers(text, [&](uint32_t segment) {
    std::string shown;
    append_marker(shown, segment);
    return segment < table_.size() ? uri(segment, false) : shown;
  });
}

std::string Notes::read_tool() const {
  if (call_.read_tool) return *call_.read_tool;
  return call_.name_space.empty() ? "artifact_read" : call_.name_space + "_artifact_read";
}

std::string Notes::note(uint32_t segment, Told& told) const {
  if (!is_stored(segment)) return unstored_note(segment);
  const std::string uri = plain_uri(table_.id(segment));
  const std::string tool = told.how_to_read ? std::string() : read_tool();
  const std::string behind = tool.empty()
                                 ? " Stored, not shown: " + uri
                                 : " Stored, not shown. Read it with " + tool + " {\"uri\":\"" +
                                       uri + "\"} or pass that URI as a tool argument.";
  told.how_to_read = true;
  const auto sentence = [&](bool previewed) {
    std::string text = "[sluice] " + words(segment, previewed);
    if (!ends_sentence(text)) text += '.';
    return text + behind;
  };
  if (const std::string shown = told.previews < kMaxPreviews ? excerpt(segment) : std::string();
      !shown.empty()) {
    std::string text = sentence(true).append("\nPreview (from the file):").append(marked(shown));
    if (const std::string& values = table_.segment(segment).values; !values.empty()) {
      text.append("\nValues (from the file):").append(marked(with_uris(values)));
    }
    if (count_chars(text) < table_.segment(segment).chars) {
      ++told.previews;
      return text;
    }
  }
  return sentence(false);
}

// A planner gets the reason beside the summary. Here it has to be in the sentence.
std::string Notes::unstored_note(uint32_t segment) const {
  const std::optional<Stored>& stored = table_.about(segment).stored;
  std::string text = "[sluice] " + words(segment);
  if (!ends_sentence(text)) text += '.';
  text += " " + (stored ? stored->warning : std::string("Content not stored."));
  if (!ends_sentence(text)) text += '.';
  const std::string shown = beginning(segment);
  std::string rest = what_is_left(segment, SIZE_MAX);
  const size_t whole = count_chars(text) + count_chars(rest) + 1 + count_chars(shown);
  if (whole > config_.max_inline_size) rest = what_is_left(segment, 0);
  const size_t used = count_chars(text) + count_chars(rest) + 1;
  if (shown.empty() || used >= config_.max_inline_size) return text + kLost;
  return text + rest + "\n" + preview(shown, config_.max_inline_size - used);
}

std::string Notes::excerpt(uint32_t index) const {
  const Segment& segment = table_.segment(index);
  const bool differs = of_error_ && !segment.error_excerpt.empty();
  return preview(with_uris(differs ? segment.error_excerpt : segment.excerpt));
}

std::string Notes::list(const std::vector<uint32_t>& segments, Told& told) const {
  if (segments.size() == 1 && !table_.about(segments[0]).shown) return note(segments[0], told);
  const bool any = std::any_of(segments.begin(), segments.end(),
                               [&](uint32_t segment) { return is_stored(segment); });
  std::string text =
      "[sluice] This result refers to these files, which were not stored and cannot be read back:";
  if (any) {
    const std::string tool = told.how_to_read ? std::string() : read_tool();
    const bool one = segments.size() == 1;
    text = one ? "[sluice] This result refers to this stored file"
               : "[sluice] This result refers to these stored files";
    if (!tool.empty()) {
      text += (one ? ". Read it with " : ". Read one with ") + tool +
              " {\"uri\":\"artifact://…\"} or pass its URI as a tool argument";
    }
    text += ':';
  }
  for (size_t line = 0; line < std::min(segments.size(), kMaxLines); ++line) {
    text += "\n- " + plain_uri(table_.id(segments[line])) + ": " + words(segments[line]);
    if (any && !is_stored(segments[line]))
      text += (ends_sentence(text) ? "" : ".") + std::string(kNotStored);
    const std::optional<Shown>& shown = table_.about(segments[line]).shown;
    // Not that it is shown: the client may leave that to a model that does not see.
    if (shown && !shown->note.empty()) text += " (" + shown->note + ")";
  }
  if (segments.size() > kMaxLines) {
    text += "\n… and " + grouped(segments.size() - kMaxLines) + " more";
  }
  return text;
}

// --- source text with something in place of its markers --------------------------------------

namespace {

/// Whether the marker at `at` is a whole string that is a value, not a key. If the quote before it
/// is inside a string, a backslash precedes the quote.
bool is_whole_value(std::string_view text, size_t at) {
  const size_t behind = at + kMarkerBytes;
  if (text[at - 1] != '"' || text[behind] != '"') return false;
  if (at >= 2 && text[at - 2] == '\\') return false;
  const size_t next = text.find_first_not_of(kWhite, behind + 1);
  return next == std::string_view::npos || text[next] != ':';
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

bool continues_uri(char c) {
  return is_alphanumeric(c) || is_among(c, "&=%-_/+") || c == kMarkerOpen;
}

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
