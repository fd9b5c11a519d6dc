// One message from its first byte to the answer.
#include "sluice/session.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "codec/payload.h"
#include "gate/segment_log.h"
#include "json/object.h"
#include "session/wire.h"
#include "sluice/codec.h"
#include "sluice/config.h"
#include "sluice/describe.h"
#include "sluice/gate.h"
#include "sluice/layers.h"
#include "sluice/restore.h"
#include "sluice/tape.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice {

/// The message moves from `gate` to `layers`, and to `whole` if the observation is stored as a
/// whole. The last one that exists holds it.
class Session::Message {
 public:
  Config config;
  std::string call_json;  // what `call` and `options` were read from
  Call call;
  std::optional<Gate> gate;
  std::string reduced;  // what the gate left of the document
  std::unique_ptr<Layers> layers;

  // The decode task in progress.
  GateOptions options;
  std::optional<Base64Text> text;
  std::unique_ptr<gate::SegmentLog> decoded;
  uint32_t decoding = 0;

  // The observation, stored as a whole.
  std::unique_ptr<gate::SegmentLog> whole;
  std::string rendered;
  Clamped clamped;
  bool changed = false;
  bool repaired = false;  // the document was not UTF-8

  Status read(std::string_view json);

  const std::vector<Segment>& segments() const {
    return layers ? layers->segments() : gate->segments();
  }
  /// A segment of the current log; nullptr if there is none with that number.
  Segment* segment(uint32_t index) {
    if (whole) return index < whole->size() ? &whole->segment(index) : nullptr;
    if ((!layers && !gate) || index >= segments().size()) return nullptr;
    return layers ? &layers->segment(index) : &gate->segment(index);
  }
};

// --- the message -----------------------------------------------------------------------------

namespace {

bool keeps_images(const Config& config, const Call& call) {
  return config.inline_media.mode == InlineMedia::Mode::listed ||
         (config.inline_media.mode == InlineMedia::Mode::automatic && call.client_shows_images);
}

/// The characters of the longest replacement for a text; a text that is no longer stays. In an
/// observation that is an artifact's members, a name, a summary and a preview.
size_t reference_chars(const Call& call) {
  constexpr size_t kMembers = 350;
  Segment text;
  text.mime_type = "text/tab-separated-values";
  text.bytes = 99;
  const std::string name_space = call.name_space.empty() ? "artifact" : call.name_space;
  const size_t uri = reference(text, name_space + "_0123456789ab", false).size();
  if (call.dialect == Dialect::mcp) return uri;
  return uri + kMembers + kPreviewChars;
}

}  // namespace

// Reads the call of the next message, and what it means for the gate.
Status Session::Message::read(std::string_view json) {
  call_json.clear();
  Status status = read_call(json, call);
  if (!status.ok()) return status;
  options = gate_options(config);
  if (call.whole_text > 0) {
    options.max_inline_size = std::min<size_t>(options.max_inline_size, call.whole_text);
  }
  options.max_inline_size = std::max(options.max_inline_size, reference_chars(call));
  if (!keeps_images(config, call)) options.keep_count = 0;
  const auto fields = config.tool_fields.find(call.tool);
  if (fields != config.tool_fields.end()) options.fields = &fields->second;
  options.protect = call.dialect == Dialect::mcp;
  call_json = json;
  return status;
}

Session::Session() : message_(std::make_unique<Message>()) {}
Session::~Session() = default;

Status Session::configure(std::string_view config_json) {
  Config config;
  Status status = parse_config(config_json, config);
  if (status.ok()) message_->config = std::move(config);
  message_->call_json.clear();
  return status;
}

std::string Session::policy() const {
  const ResourcePolicy& resources = message_->config.resources;
  return Object()
      .number("inlineTextUnderChars", resources.inline_text_if_under_chars)
      .flag("cacheReads", resources.cache_reads_to_artifacts)
      .end();
}

uint8_t* Session::body(size_t size) {
  return message_->gate ? message_->gate->input(size) : nullptr;
}

Status Session::begin(std::string_view call_json) {
  Message& message = *message_;
  Status status;
  // Mostly it is the call of the same tool again.
  if (message.call_json != call_json) status = message.read(call_json);
  if (!status.ok()) return status;
  message.layers.reset();
  message.whole.reset();
  message.text.reset();
  message.reduced.clear();
  message.gate.emplace(message.options);
  return status;
}

bool Session::open_bytes(std::string_view json) {
  Stored told;
  read_told(json, told);
  return message_->gate && message_->gate->open_bytes(told.mime_type, told.filename);
}

uint8_t* Session::bytes_room(size_t size) {
  return message_->gate->bytes_room(size);
}

void Session::bytes_written(size_t size) {
  message_->gate->bytes_written(size);
}

void Session::close_bytes() {
  message_->gate->close_bytes();
}

Status Session::push(size_t size) {
  if (!message_->gate) return misuse("", "push comes after begin");
  return message_->gate->push(size);
}

Status Session::finish() {
  Message& message = *message_;
  if (!message.gate) return misuse("", "finish comes after begin");
  Status status = message.gate->finish();
  if (!status.ok()) return status;
  message.reduced = message.gate->reduced();
  message.repaired = replace_malformed(message.reduced);
  return status;
}

Status Session::plan(std::string_view call_json) {
  Message& message = *message_;
  if (!message.gate) return misuse("", "plan comes after finish");
  Status status;
  if (!call_json.empty()) {
    message.call_json.clear();
    const std::string tool = message.call.tool;
    status = read_call(call_json, message.call);
    // The places were those of the tool that was thought to answer.
    for (uint32_t index = 0; message.call.tool != tool && index < message.gate->segments().size();
         ++index) {
      message.gate->segment(index).field = 0;
    }
  }
  if (!status.ok()) return status;
  message.whole.reset();
  message.layers = std::make_unique<Layers>(message.config, message.call, message.reduced,
                                            message.gate->segments());
  return message.layers->plan();
}

std::string_view Session::events() const {
  Message& message = *message_;
  if (message.whole) return message.whole->events();
  if (message.layers) return message.layers->events();
  return message.gate ? message.gate->events() : std::string_view();
}

void Session::clear_events() {
  Message& message = *message_;
  if (message.whole) {
    message.whole->events().clear();
  } else if (message.layers) {
    message.layers->events().clear();
  } else if (message.gate) {
    message.gate->events().clear();
  }
}

std::string Session::reference_to(uint32_t index, std::string_view id) const {
  return reference(message_->segments()[index], id, true);
}

std::string Session::reference_note(uint32_t index, std::string_view id, uint64_t offset) const {
  return inner_ref(message_->segments()[index], id, offset);
}

void Session::begin_decode(uint32_t segment) {
  Message& message = *message_;
  message.decoding = segment;
  message.text.emplace();
  message.decoded = std::make_unique<gate::SegmentLog>(message.options);
  message.decoded->open(SegmentKind::run);
}

bool Session::decode(std::string_view text, std::string& bytes) {
  bytes.clear();
  if (!message_->text || !message_->text->push(text, bytes)) return false;
  message_->decoded->data(0, bytes);
  message_->decoded->events().clear();
  return true;
}

bool Session::end_decode(std::string& bytes) {
  Message& message = *message_;
  bytes.clear();
  if (!message.text || !message.text->finish(bytes)) return false;
  message.decoded->data(0, bytes);
  Segment& record = message.decoded->segment(0);
  record.form = message.text->form();
  record.whole = true;
  record.chars = message.segments()[message.decoding].chars;
  message.decoded->close(0);
  message.layers->decoded(message.decoding, message.decoded->segment(0), message.text->is_exact());
  message.text.reset();
  return true;
}

int32_t Session::original(uint32_t segment) const {
  const std::optional<uint32_t> kept = message_->layers->original(segment);
  return kept ? static_cast<int32_t>(*kept) : -1;
}

void Session::link(uint32_t number, std::string json) {
  message_->layers->link(number, std::move(json));
}

// --- the answer: what the host stored, and the text that goes out ----------------------------

namespace {

/// Clamps an observation whose rest is stored nowhere. It begins with a sentence that says so: as
/// the first member or element, or after a string.
Clamped clamp_telling(std::string_view json, GuardrailOptions options, std::string_view warning) {
  std::string words = "[sluice] This result was cut to fit, and the rest cannot be read back. ";
  words.append(warning);
  if (!words.ends_with('.')) words += '.';
  const size_t open = json.find_first_not_of(kWhite);
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

FileReport Session::segment(uint32_t index, uint64_t bytes) {
  Segment* segment = message_->segment(index);
  if (!segment) return {write_segment({}), {}};
  resize(*segment, bytes);
  return {write_segment(*segment), std::exchange(segment->evidence, {})};
}

void Session::describe(uint32_t index, std::string_view description) {
  Segment* segment = message_->segment(index);
  if (segment) segment->description = description;
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

std::string Session::showable(uint64_t max_text) const {
  const Message& message = *message_;
  const InlineMedia& media = message.config.inline_media;
  const Layers& layers = *message.layers;
  return write_showable(layers.showable(max_text), layers.segments(), media, layers.is_error(),
                        layers.reduced_bytes());
}

std::string Session::kept(uint32_t segment) const {
  const Segment* const found = message_->segment(segment);
  return found ? found->kept : std::string();
}

Status Session::show(std::string_view json, std::string data) {
  uint32_t segment = 0;
  Shown shown;
  Status status = read_shown(json, segment, shown);
  if (!status.ok()) return status;
  shown.data = std::move(data);
  message_->layers->show(segment, std::move(shown));
  return status;
}

// The only exit. In the observation dialect everything passes the guardrail.
Status Session::render(std::string& text) {
  Message& message = *message_;
  if (!message.layers) return misuse("", "render comes after plan");
  message.rendered = message.layers->render();
  message.changed = message.layers->changed() || message.repaired;
  message.clamped = Clamped{};
  if (message.call.dialect == Dialect::mcp) {
    text = message.rendered;
    return {};
  }
  message.clamped = clamp_own(message.rendered, message.config.guardrail);
  text = std::move(message.clamped.text);
  return message.clamped.status;
}

uint32_t Session::outcome() const {
  const Message& message = *message_;
  const bool store_whole =
      message.clamped.changed &&
      message.clamped.original_chars > message.config.guardrail.auto_artifact_threshold;
  return (message.changed ? 1U : 0U) | (message.clamped.changed ? 2U : 0U) |
         (store_whole ? 4U : 0U);
}

std::string Session::report() const {
  return write_report(message_->clamped);
}

std::string Session::refs() const {
  return message_->layers->refs_json();
}

void Session::store_whole() {
  Message& message = *message_;
  message.whole = std::make_unique<gate::SegmentLog>(message.options);
  const uint32_t index = message.whole->open(SegmentKind::json);
  Segment& segment = message.whole->segment(index);
  segment.whole = true;
  segment.chars = message.clamped.original_chars;
  message.whole->data(index, message.rendered);
  message.whole->close(index);
}

Status Session::stored_whole(std::string_view json, std::string& text) {
  Message& message = *message_;
  std::string reduced = "\"";
  append_marker(reduced, 0);
  reduced += '"';
  Layers layers(message.config, message.call, std::move(reduced), message.whole->segments());
  Status status = layers.plan();
  uint32_t segment = 0;
  Stored stored;
  if (status.ok()) status = read_stored(json, segment, stored);
  if (!status.ok()) return status;
  if (!stored.warning.empty()) {
    const Clamped told = clamp_telling(message.rendered, message.config.guardrail, stored.warning);
    text = told.text;
    return told.status;
  }
  layers.stored(0, std::move(stored));
  const Clamped clamped = clamp_own(layers.render(), message.config.guardrail);
  text = clamped.text;
  return clamped.status;
}

Status Session::clamp_text(std::string_view json, size_t max_chars, std::string& text) {
  Message& message = *message_;
  GuardrailOptions options = message.config.guardrail;
  if (max_chars != 0) options.max_observation_chars = max_chars;
  message.clamped = clamp(json, options);
  text = std::move(message.clamped.text);
  return message.clamped.status;
}

}  // namespace sluice
