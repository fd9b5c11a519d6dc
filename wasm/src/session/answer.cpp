// The end of a message: what the host stored, and the text that goes out (part of Session).
#include "session/message.h"
#include "session/wire.h"
#include "sluice/describe.h"
#include "sluice/restore.h"
#include "sluice/tape.h"

namespace sluice {

namespace {

/// The clamp of an observation whose rest is nowhere: it begins with words that say so, as its
/// first member or element, or behind a string.
Clamped clamp_telling(std::string_view json, GuardrailOptions options, std::string_view warning) {
  std::string words = "[sluice] This result was cut to fit, and the rest cannot be read back. ";
  words.append(warning);
  if (!words.ends_with('.')) words += '.';
  const size_t open = json.find_first_not_of(" \t\r\n");
  std::string told(json);
  if (json[open] == '{' || json[open] == '[') {
    std::string first = json[open] == '{' ? "\"[sluice]\":\"" : "\"";
    append_escaped(first, words);
    told.insert(open + 1, first + "\",");
  } else {
    options.truncation_suffix.append("\n").append(words);
  }
  return clamp(told, options);
}

}  // namespace

std::string Session::segment(uint32_t index, uint64_t bytes) {
  Segment* segment = message_->segment(index);
  if (!segment) return write_segment({});
  resize(*segment, bytes);
  return write_segment(*segment);
}

std::string Session::tasks() const {
  return write_tasks(message_->layers->tasks());
}

Status Session::stored(std::string_view json) {
  uint32_t segment = 0;
  Stored stored;
  Status status = read_stored(json, segment, stored);
  if (status.ok()) message_->layers->stored(segment, std::move(stored));
  return status;
}

// The one exit: in the observation dialect nothing leaves without the guardrail.
Status Session::render(std::string& text) {
  Message& message = *message_;
  message.rendered = message.layers->render();
  message.changed = message.layers->changed() || message.repaired;
  message.clamped = Clamped{};
  if (message.call.dialect == Dialect::mcp) {
    text = message.rendered;
    return {};
  }
  message.clamped = clamp(message.rendered, message.config.guardrail);
  text = message.clamped.text;
  return message.clamped.status;
}

std::string Session::report() const {
  const Message& message = *message_;
  const bool shelve =
      message.clamped.changed &&
      message.clamped.original_chars > message.config.guardrail.auto_artifact_threshold;
  return write_report(message.clamped, message.changed, shelve);
}

std::string Session::refs() const {
  return message_->layers->refs_json();
}

void Session::shelve() {
  Message& message = *message_;
  message.shelf = std::make_unique<gate::SegmentLog>(message.options);
  const uint32_t index = message.shelf->open(SegmentKind::json);
  Segment& segment = message.shelf->segment(index);
  segment.whole = true;
  segment.chars = message.clamped.original_chars;
  message.shelf->data(index, message.rendered);
  message.shelf->close(index);
}

Status Session::shelved(std::string_view json, std::string& text) {
  Message& message = *message_;
  std::string reduced = "\"";
  append_marker(reduced, 0);
  reduced += '"';
  Layers whole(message.config, message.call, std::move(reduced), message.shelf->segments());
  Status status = whole.plan();
  uint32_t segment = 0;
  Stored stored;
  if (status.ok()) status = read_stored(json, segment, stored);
  if (!status.ok()) return status;
  if (!stored.warning.empty()) {
    const Clamped told = clamp_telling(message.rendered, message.config.guardrail, stored.warning);
    text = told.text;
    return told.status;
  }
  whole.stored(0, std::move(stored));
  const Clamped clamped = clamp(whole.render(), message.config.guardrail);
  text = clamped.text;
  return clamped.status;
}

Status Session::clamp_text(std::string_view json, size_t max_chars, std::string& text) {
  Message& message = *message_;
  GuardrailOptions options = message.config.guardrail;
  if (max_chars != 0) options.max_observation_chars = max_chars;
  message.clamped = clamp(json, options);
  message.changed = message.clamped.changed;
  text = message.clamped.text;
  return message.clamped.status;
}

}  // namespace sluice
