// The boundary to JavaScript: Embind only, no logic. Bytes cross as views into the module's memory,
// which die when memory grows: fetch a view again after every call. `web/src/core/core.d.mts` is
// the other side, and says of each call what it takes and writes.
#include <emscripten/bind.h>

#include <memory>
#include <string>
#include <vector>

#include "sluice/restore.h"
#include "sluice/session.h"

namespace {

using emscripten::typed_memory_view;
using emscripten::val;
using sluice::Status;

/// What JavaScript holds: a Session, a buffer in and a buffer out. Calls that can fail answer
/// false; then `output` is the error as JSON. Questions are answered by 1 or 0.
class Core {
 public:
  val input(size_t size) {
    in_.resize(size);
    return val(typed_memory_view(size, reinterpret_cast<const uint8_t*>(in_.data())));
  }
  val output() const {
    return val(typed_memory_view(out_.size(), reinterpret_cast<const uint8_t*>(out_.data())));
  }

  // One message, from its first byte to its end.
  bool configure() { return answer(session_.configure(in_)); }
  void policy() { out_ = session_.policy(); }
  bool begin() { return answer(session_.begin(in_)); }
  val body(size_t size) { return val(typed_memory_view(size, session_.body(size))); }
  bool push(size_t size) { return answer(session_.push(size)); }
  bool finish() { return answer(session_.finish()); }

  // Bytes in place of a value.
  unsigned open_bytes() { return session_.open_bytes(in_); }
  val bytes_room(size_t size) { return val(typed_memory_view(size, session_.bytes_room(size))); }
  void bytes_written(size_t size) { session_.bytes_written(size); }
  void close_bytes() { session_.close_bytes(); }

  // Segments, while they are stored.
  val events() const {
    const std::string_view log = session_.events();
    return val(typed_memory_view(log.size(), reinterpret_cast<const uint8_t*>(log.data())));
  }
  void clear_events() { session_.clear_events(); }
  void segment(uint32_t index, double bytes) {
    hold(session_.segment(index, static_cast<uint64_t>(bytes)));
  }
  double evidence() {
    out_ = std::move(evidence_);
    return static_cast<double>(out_.size());
  }
  void describe(uint32_t index) { session_.describe(index, in_); }
  void reference(uint32_t index) { out_ = session_.reference_to(index, in_); }
  void reference_note(uint32_t index, double offset) {
    out_ = session_.reference_note(index, in_, static_cast<uint64_t>(offset));
  }

  // The layers, and what they ask for.
  bool plan(bool told) { return answer(session_.plan(told ? std::string_view(in_) : "")); }
  void tasks() { out_ = session_.tasks(); }
  bool stored() { return answer(session_.stored(in_)); }
  void begin_decode(uint32_t segment) { session_.begin_decode(segment); }
  unsigned decode() { return session_.decode(in_, out_); }
  unsigned end_decode() { return session_.end_decode(out_); }
  double original(uint32_t segment) const { return session_.original(segment); }
  void link(uint32_t number) { session_.link(number, in_); }

  void showable(double max_text) { out_ = session_.showable(static_cast<uint64_t>(max_text)); }
  void kept(uint32_t segment) { out_ = session_.kept(segment); }
  bool show(size_t json) {
    return answer(session_.show(std::string_view(in_).substr(0, json), in_.substr(json)));
  }

  // The answer.
  bool render() { return answer(session_.render(out_)); }
  uint32_t outcome() const { return session_.outcome(); }
  void report() { out_ = session_.report(); }
  void refs() { out_ = session_.refs(); }
  void store_whole() { session_.store_whole(); }
  bool stored_whole() { return answer(session_.stored_whole(in_, out_)); }
  bool clamp(size_t max_chars) { return answer(session_.clamp_text(in_, max_chars, out_)); }

  // Files.
  void sniff(double size) { hold(sluice::describe_file(in_, static_cast<uint64_t>(size))); }
  void look(size_t mime_type) {
    const std::string_view said = in_;
    look_ = std::make_unique<sluice::FileLook>(said.substr(0, mime_type), said.substr(mime_type));
  }
  void look_at() { look_->push(in_); }
  void looked() {
    hold(look_->finish());
    look_.reset();
  }

  // Restoring.
  bool restore() { return answer(restoration_.cut(in_)); }
  bool restore_with(size_t refs, bool named) { return answer(restoration_.cut(in_, refs, named)); }
  bool restore_text(size_t refs, size_t form, bool json) {
    return answer(restoration_.cut_text(in_, refs, form, json));
  }
  unsigned next_piece() { return restoration_.next(out_); }
  bool open_form(bool raw) { return answer(restoration_.open_form(in_, raw)); }
  void write_form() { restoration_.write(in_, out_); }
  void close_form() { restoration_.close(out_); }

 private:
  bool answer(const Status& status) {
    if (!status.ok()) out_ = status_json(status);
    return status.ok();
  }

  void hold(sluice::FileReport report) {
    out_ = std::move(report.json);
    evidence_ = std::move(report.evidence);
  }

  sluice::Session session_;
  sluice::Restoration restoration_;
  std::unique_ptr<sluice::FileLook> look_;
  std::string in_;
  std::string out_;
  std::string evidence_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(sluice) {
  emscripten::class_<Core>("Core")
      .constructor<>()
      .function("input", &Core::input)
      .function("output", &Core::output)
      .function("configure", &Core::configure)
      .function("policy", &Core::policy)
      .function("begin", &Core::begin)
      .function("body", &Core::body)
      .function("push", &Core::push)
      .function("finish", &Core::finish)
      .function("openBytes", &Core::open_bytes)
      .function("bytesRoom", &Core::bytes_room)
      .function("bytesWritten", &Core::bytes_written)
      .function("closeBytes", &Core::close_bytes)
      .function("events", &Core::events)
      .function("clearEvents", &Core::clear_events)
      .function("segment", &Core::segment)
      .function("evidence", &Core::evidence)
      .function("describe", &Core::describe)
      .function("reference", &Core::reference)
      .function("referenceNote", &Core::reference_note)
      .function("plan", &Core::plan)
      .function("tasks", &Core::tasks)
      .function("stored", &Core::stored)
      .function("beginDecode", &Core::begin_decode)
      .function("decode", &Core::decode)
      .function("endDecode", &Core::end_decode)
      .function("original", &Core::original)
      .function("link", &Core::link)
      .function("showable", &Core::showable)
      .function("kept", &Core::kept)
      .function("show", &Core::show)
      .function("render", &Core::render)
      .function("outcome", &Core::outcome)
      .function("report", &Core::report)
      .function("refs", &Core::refs)
      .function("storeWhole", &Core::store_whole)
      .function("storedWhole", &Core::stored_whole)
      .function("clamp", &Core::clamp)
      .function("sniff", &Core::sniff)
      .function("look", &Core::look)
      .function("lookAt", &Core::look_at)
      .function("looked", &Core::looked)
      .function("restore", &Core::restore)
      .function("restoreWith", &Core::restore_with)
      .function("restoreText", &Core::restore_text)
      .function("nextPiece", &Core::next_piece)
      .function("openForm", &Core::open_form)
      .function("writeForm", &Core::write_form)
      .function("closeForm", &Core::close_form);
}
