// One message from its first byte to its observation: the gate, then the layers, then the
// guardrail.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/bytes.h"
#include "sluice/status.h"

namespace sluice {

/// What is told of a file.
struct FileReport {
  /// `{"kind":"run"|"text"|"json","mime_type":…,"extension":…,"size_bytes":…,"description":…}`
  std::string json;
  /// What `tell_facts` (sluice/facts.h) needs for a better description; empty where there is none.
  std::string evidence;
};

/// Processes one message at a time. The host pushes bytes, takes events, stores what they carry,
/// answers, and gets text. Messages to and from the host are JSON; bytes cross as views. Every call
/// that can fail returns a Status.
///
///   configure ─▶ begin ─▶ push… ─▶ finish ─▶ plan ─▶ tasks ─▶ stored… ─▶ render (─▶ store_whole ─▶
///   stored_whole)
///
/// The steps from `plan` on can be repeated for another tool or dialect.
class Session {
 public:
  Session();
  ~Session();

  /// Sets the configuration of the messages that follow (sluice/config.h).
  Status configure(std::string_view config_json);

  /// The part of the configuration that the host needs:
  /// `{"inlineTextUnderChars":…,"cacheReads":…}`.
  std::string policy() const;

  /// Begins a message:
  /// `{"tool":…,"namespace":…,"dialect":"observation"|"mcp","clientShowsImages":…,
  /// "structureNotes":"none"|"sentences"|"previews","wholeText":…,"transformed":…}`, all keys
  /// optional. With
  /// `mcp`, members that have to pass unchanged stay; the message can still be answered in either
  /// dialect.
  Status begin(std::string_view call_json);

  /// Room for the next bytes of the message, valid until the next call. Then call `push(size)`.
  uint8_t* body(size_t size);
  Status push(size_t size);
  Status finish();

  /// Raw bytes in place of a value, see `Gate::open_bytes`: `{"mime_type":…,"filename":…}`.
  bool open_bytes(std::string_view json);
  uint8_t* bytes_room(size_t size);
  void bytes_written(size_t size);
  void close_bytes();

  /// Applies the layers for a call, given as for `begin`; empty for the one given there. The
  /// segments that they add follow those of the gate; each `plan` starts anew.
  Status plan(std::string_view call_json);

  /// The log (sluice/segment.h) since the last `clear_events`.
  std::string_view events() const;
  void clear_events();

  /// Describes a closed segment of which the host has written `bytes`, references included. It has
  /// evidence once.
  FileReport segment(uint32_t index, uint64_t bytes);
  /// Gives a segment the description that its evidence led to.
  void describe(uint32_t index, std::string_view description);
  /// The reference to a segment stored as `id`, for the text of another segment.
  std::string reference_to(uint32_t index, std::string_view id) const;
  /// The note to keep beside that text: see `inner_ref` in sluice/restore.h.
  std::string reference_note(uint32_t index, std::string_view id, uint64_t offset) const;

  /// After `plan`:
  /// `[{"kind":"annotate"|"decode"|"read","index":…,"mime_type":…,"filename":…,"uri":…,"size_bytes":…}]`.
  /// A decode adds a task, so ask again after it.
  std::string tasks() const;
  /// `{"segment":…,"id":…,"filename":…,"mime_type":…,"warning":…,"opaque":…}`
  Status stored(std::string_view json);
  /// Runs a decode task: takes the stored text piece by piece and returns bytes.
  void begin_decode(uint32_t segment);
  bool decode(std::string_view text, std::string& bytes);
  /// False if the text is not base64 after all. The segment then stays as it is.
  bool end_decode(std::string& bytes);
  /// After `end_decode`: the segment that now holds the original text, or -1 if it is not needed.
  int32_t original(uint32_t segment) const;
  void link(uint32_t number, std::string json);

  /// After all are stored, what may come back:
  /// `{"max_bytes":…,"max_count":…,"is_error":…,"reduced_bytes":…,"showable":[{"segment":…,"kind":"image"|"audio"|
  /// "resource"|"text","mime_type":…,"size_bytes":…,"listed":…}]}`. Texts of at most `max_text`
  /// bytes.
  std::string showable(uint64_t max_text) const;
  /// The bytes of a segment, if the gate kept them.
  std::string kept(uint32_t segment) const;
  /// Puts one back: `{"segment":…,"kind":…,"mime_type":…,"note":…}`, and its base64 or text.
  Status show(std::string_view json, std::string data);

  Status render(std::string& text);
  /// After `render`, bits: 1 if the result differs from what came, 2 if the observation was
  /// clamped, 4 if it was and is longer than `auto_artifact_threshold`: store the whole.
  uint32_t outcome() const;
  /// Of what `render` or `clamp_text` clamped:
  /// `{"clamped":…,"original_chars":…,"clamped_chars":…,"method":…}`.
  std::string report() const;
  /// The entries of `_meta["sluice/refs"]` for an mcp result that has no place for them.
  std::string refs() const;

  /// Logs the whole observation as segment 0 of `events`. After storing it, `stored_whole` takes
  /// the argument of `stored` and returns the observation that refers to it, or the clamped one
  /// with a sentence that says so if it was not stored.
  void store_whole();
  Status stored_whole(std::string_view json, std::string& text);

  /// Applies the guardrail alone. `max_chars` of 0 means the configured limit.
  Status clamp_text(std::string_view json, size_t max_chars, std::string& text);

 private:
  class Message;
  std::unique_ptr<Message> message_;
};

/// Describes a file of `size` bytes that begins with `head`.
FileReport describe_file(std::string_view head, uint64_t size);

/// Describes a file that streams by. The answer is the same for any chunking; memory is constant.
class FileLook {
 public:
  /// `mime_type` and `filename` may be empty. If they declare a table, short rows count too.
  explicit FileLook(std::string_view mime_type = {}, std::string_view filename = {});
  ~FileLook();

  void push(std::string_view bytes);

  /// Do not push after it.
  FileReport finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
