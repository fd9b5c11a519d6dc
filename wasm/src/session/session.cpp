#include "sluice/session.h"

#include <algorithm>

#include "json/object.h"
#include "json/repair.h"
#include "session/message.h"
#include "session/wire.h"
#include "sluice/restore.h"

namespace sluice {

namespace {

Status misuse(std::string message) {
  Status status;
  status.code = Code::misuse;
  status.message = std::move(message);
  return status;
}

bool keeps_images(const Config& config, const Call& call) {
  return config.inline_media.mode == InlineMedia::Mode::listed ||
         (config.inline_media.mode == InlineMedia::Mode::automatic && call.client_shows_images);
}

/// Characters of the longest that may stand in place of a text: one that is no longer stays. Beside
/// a preview an observation has an artifact's members, a name and a summary.
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

Session::Session() : message_(std::make_unique<Message>()) {}
Session::~Session() = default;

Status Session::configure(std::string_view config_json) {
  Config config;
  Status status = parse_config(config_json, config);
  if (status.ok()) message_->config = std::move(config);
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
  Status status = read_call(call_json, message.call);
  if (!status.ok()) return status;
  message.layers.reset();
  message.shelf.reset();
  message.text.reset();
  message.options = gate_options(message.config);
  message.options.max_inline_chars =
      std::max(message.options.max_inline_chars, reference_chars(message.call));
  if (!keeps_images(message.config, message.call)) message.options.keep_count = 0;
  message.options.protect = message.call.dialect == Dialect::mcp;
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
  if (!message_->gate) return misuse("push comes after begin");
  return message_->gate->push(size);
}

Status Session::finish() {
  Message& message = *message_;
  if (!message.gate) return misuse("finish comes after begin");
  Status status = message.gate->finish();
  if (!status.ok()) return status;
  message.reduced = message.gate->reduced();
  message.repaired = replace_malformed(message.reduced);
  return status;
}

Status Session::plan(std::string_view call_json) {
  Message& message = *message_;
  if (!message.gate) return misuse("plan comes after finish");
  Status status;
  if (!call_json.empty()) status = read_call(call_json, message.call);
  if (!status.ok()) return status;
  message.shelf.reset();
  message.layers = std::make_unique<Layers>(message.config, message.call, message.reduced,
                                            message.gate->segments());
  return message.layers->plan();
}

std::string_view Session::events() const {
  Message& message = *message_;
  if (message.shelf) return message.shelf->events();
  if (message.layers) return message.layers->events();
  return message.gate ? message.gate->events() : std::string_view();
}

void Session::clear_events() {
  Message& message = *message_;
  if (message.shelf) {
    message.shelf->events().clear();
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

}  // namespace sluice
