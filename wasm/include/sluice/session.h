// One message from its first byte to its observation: the gate, the layers and the guardrail in a
// row.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/bytes.h"
#include "sluice/status.h"

namespace sluice {

/// What a host drives. It pushes bytes, takes events, stores what they carry, answers, and gets
/// text. Messages to and from it are JSON; bytes cross as views. Every call that can fail returns a
/// Status.
///
///   configure ─▶ begin ─▶ push… ─▶ finish ─▶ plan ─▶ tasks ─▶ stored… ─▶ render (─▶ shelve ─▶
///   shelved)
///
/// From `plan` on it may be gone through again, for another tool or in another dialect.
class Session {
 public:
  Session();
  ~Session();

  /// The configuration for all messages that follow (sluice/config.h).
  Status configure(std::string_view config_json);

  /// What the host needs of the configuration: `{"inlineTextUnderChars":…,"cacheReads":…}`.
  std::string policy() const;

  /// A message begins:
  /// `{"tool":…,"namespace":…,"dialect":"observation"|"mcp","client_shows_images":…,"transformed":…}`,
  /// each key optional. With the dialect `mcp`, what nobody between server and client may touch
  /// stays; it may be answered in either dialect.
  Status begin(std::string_view call_json);

  /// Room for the next bytes of the message, valid until the next call; then `push(size)`.
  uint8_t* body(size_t size);
  Status push(size_t size);
  Status finish();

  /// Bytes in the place of a value, see `Gate::open_bytes`: `{"mime_type":…,"filename":…}`.
  bool open_bytes(std::string_view json);
  uint8_t* bytes_room(size_t size);
  void bytes_written(size_t size);
  void close_bytes();

  /// What the layers make of the message, for a call as `begin` takes it; empty: for that of
  /// `begin`. The segments that they add follow the gate's, each time anew.
  Status plan(std::string_view call_json);

  /// The log (sluice/event.h) since the last `clear_events`.
  std::string_view events() const;
  void clear_events();

  /// A closed segment, of which the host has written `bytes`, references included:
  /// `{"kind":"run"|"text"|"json","mime_type":…,"extension":…,"size_bytes":…,"description":…}`
  std::string segment(uint32_t index, uint64_t bytes);
  /// The reference to a segment stored as `id`, as it stands in another segment's text.
  std::string reference_to(uint32_t index, std::string_view id) const;
  /// What to note beside that text: see `inner_ref` in sluice/restore.h.
  std::string reference_note(uint32_t index, std::string_view id, uint64_t offset) const;

  /// After `plan`:
  /// `[{"kind":"annotate"|"decode"|"read","index":…,"mime_type":…,"filename":…,"uri":…,
  /// "size_bytes":…}]`. A decode adds a task: ask again after it.
  std::string tasks() const;
  /// `{"segment":…,"id":…,"filename":…,"mime_type":…,"warning":…,"opaque":…}`
  Status stored(std::string_view json);
  /// A decode task: the stored text goes through `decode` piece by piece, the bytes come out.
  void begin_decode(uint32_t segment);
  bool decode(std::string_view text, std::string& bytes);
  /// False when the text was no base64 after all; the segment then stays what it is.
  bool end_decode(std::string& bytes);
  /// After `end_decode`: the segment that the text itself is from now on, or -1 when nothing needs
  /// it any more.
  int32_t original(uint32_t segment) const;
  void link(uint32_t number, std::string json);

  /// Writes the answer. `report` tells what became of it:
  /// `{"changed":…,"clamped":…,"original_chars":…,"clamped_chars":…,"method":…,"shelve":…}`. With
  /// `shelve` the observation was clamped, and `auto_artifact_threshold` asks for the whole to be
  /// stored.
  Status render(std::string& text);
  std::string report() const;
  /// The entries of `_meta["sluice/refs"]` for an mcp result that has no place for them.
  std::string refs() const;

  /// Logs the whole observation as segment 0 of `events`; after storing it, `shelved` takes what
  /// `stored` takes and gives the observation that refers to it. Where it was not stored, that is
  /// the clamped one, with words that say so.
  void shelve();
  Status shelved(std::string_view json, std::string& text);

  /// The guardrail alone; with `max_chars` of 0 at the limit that is configured.
  Status clamp_text(std::string_view json, size_t max_chars, std::string& text);

 private:
  class Message;
  std::unique_ptr<Message> message_;
};

/// `{"mime_type":…,"extension":…,"description":…}` of a file of `size` bytes that begins with
/// `head`.
std::string describe_file(std::string_view head, uint64_t size);

/// Looks at a file that streams by: the same answer for any chunking, in constant memory.
class FileLook {
 public:
  FileLook();
  ~FileLook();

  void push(std::string_view bytes);

  /// What `Session::segment` tells of a segment; nothing may be pushed behind it.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
