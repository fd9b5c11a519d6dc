#include "layers/notes.h"

#include <algorithm>

#include "json/object.h"
#include "layers/json_string.h"
#include "layers/references.h"
#include "sluice/describe.h"
#include "sluice/sniff.h"

namespace sluice::layers {

namespace {

constexpr size_t kMaxLines = 8;
constexpr std::string_view kNotStored = " Note: content not stored.";

bool ends_sentence(std::string_view text) {
  return text.ends_with('.') || text.ends_with('!') || text.ends_with('?') || text.ends_with("…");
}

std::string label_of(const Segment& segment, const About& about) {
  if (!about.label.empty()) return about.label;
  const FileType type = type_of_mime(segment.mime_type);
  return type.label.empty() ? segment.mime_type : type.label;
}

}  // namespace

std::string note_as_block(std::string_view note) {
  return Object().text("type", "text").text("text", note).end();
}

bool Notes::is_stored(uint32_t segment) const {
  const std::optional<Stored>& stored = ledger_.about(segment).stored;
  return stored && stored->warning.empty();
}

std::string Notes::uri(uint32_t segment, bool with_form) const {
  return reference(ledger_.segment(segment), ledger_.id(segment), with_form);
}

std::string Notes::name(uint32_t segment) const {
  const std::optional<Stored>& stored = ledger_.about(segment).stored;
  return stored && !stored->filename.empty() ? stored->filename : ledger_.filename(segment);
}

std::string Notes::template_of(uint32_t segment) const {
  const std::string& own = ledger_.about(segment).summary_template;
  return own.empty() ? config_.default_summary_template : own;
}

std::string Notes::summary(uint32_t index) const {
  const Segment& segment = ledger_.segment(index);
  const About& about = ledger_.about(index);
  std::string text = segment.description;
  if (text.empty()) text = label_of(segment, about) + ", " + human_size(segment.bytes);
  if (const std::string words = template_of(index); !words.empty()) {
    std::vector<Value> values;
    const auto add = [&](const char* key, std::string value, bool ours) {
      values.push_back({key, std::move(value), ours});
    };
    add("content_type", label_of(segment, about), true);
    add("filename", name(index), false);
    add("size", std::to_string(segment.bytes), true);
    add("size_human", human_size(segment.bytes), true);
    add("artifact_id", ledger_.id(index), true);
    add("description", text, true);
    values.insert(values.end(), about.siblings.begin(), about.siblings.end());
    text = expand_template(words, values);
  }
  if (is_stored(index)) return text;
  if (!ends_sentence(text)) text += '.';
  return text.append(kNotStored);
}

void Notes::append_artifact(std::string& out, uint32_t index) const {
  const Segment& segment = ledger_.segment(index);
  const std::optional<Stored>& stored = ledger_.about(index).stored;
  Object artifact;
  artifact.text("id", ledger_.id(index))
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
  append_key(out, "summary");
  out += json_string(summary(index));
  if (segment.kind == SegmentKind::run || segment.preview.empty()) return;
  append_key(out, "preview");
  out += '"';
  append_text(out, segment.preview);
  out += '"';
}

std::string Notes::artifact(uint32_t segment) const {
  std::string out = "{";
  append_artifact(out, segment);
  out += '}';
  return out;
}

std::string Notes::read_tool() const {
  return call_.name_space.empty() ? "artifact_read" : call_.name_space + "_artifact_read";
}

std::string Notes::note(uint32_t segment) const {
  std::string text = "[sluice] " + summary(segment);
  if (!is_stored(segment)) {
    // A planner finds the reason beside the summary; here is no place but the sentence.
    const std::optional<Stored>& stored = ledger_.about(segment).stored;
    if (!stored || stored->warning.empty()) return text;
    text.replace(text.size() - kNotStored.size(), kNotStored.size(), " " + stored->warning);
    if (!ends_sentence(text)) text += '.';
    return text;
  }
  if (text.ends_with('.')) text.pop_back();
  return text + ": stored, not shown. Read it with " + read_tool() + " {\"uri\":\"" +
         plain_uri(ledger_.id(segment)) + "\"} or pass that URI as a tool argument.";
}

std::string Notes::list(const std::vector<uint32_t>& segments,
                        const std::vector<uint32_t>& shown) const {
  const auto is_shown = [&](uint32_t segment) {
    return std::find(shown.begin(), shown.end(), segment) != shown.end();
  };
  if (segments.size() == 1 && !is_shown(segments[0])) return note(segments[0]);
  const bool any = std::any_of(segments.begin(), segments.end(),
                               [&](uint32_t segment) { return is_stored(segment); });
  std::string text = "[sluice] Not stored, though this result refers to them:";
  if (any) {
    text = "[sluice] Stored, as this result refers to them. Read one with " + read_tool() +
           " {\"uri\":\"artifact://…\"} or pass its URI as a tool argument.";
  }
  for (size_t line = 0; line < std::min(segments.size(), kMaxLines); ++line) {
    text += "\n- " + plain_uri(ledger_.id(segments[line])) + ": " + summary(segments[line]);
    if (is_shown(segments[line])) text += " (shown here too)";
  }
  if (segments.size() > kMaxLines) {
    text += "\n… and " + grouped(segments.size() - kMaxLines) + " more";
  }
  return text;
}

void Notes::append_text(std::string& out, std::string_view text) const {
  for (size_t at = 0; at < text.size();) {
    const size_t open = std::min(text.find(kMarkerOpen, at), text.size());
    append_escaped(out, text.substr(at, open - at));
    at = open;
    if (open == text.size()) return;
    const int32_t segment = marker_at(text, open);
    if (segment >= 0 && static_cast<size_t>(segment) < ledger_.size()) {
      out += uri(static_cast<uint32_t>(segment), false);
      at += kMarkerBytes;
    } else {
      append_escaped(out, text.substr(at, 1));
      ++at;
    }
  }
}

}  // namespace sluice::layers
