// What programs print and people write: kinds of text that their first lines tell, and that all of
// their lines are counted for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

namespace kinds {

using Lines = std::vector<std::string_view>;

/// The first lines of a text, whole ones alone, without control sequences.
struct Sample {
  Lines lines;   ///< all of them
  Lines filled;  ///< those with something in them
};

/// A thing that a text names: a file, a heading, a definition.
struct Named {
  std::string text;
  uint64_t added = 0;  ///< lines of a file in a diff
  uint64_t removed = 0;
};

/// Things that are named in an excerpt; further ones are counted.
inline constexpr size_t kMostNamed = 16;

/// What the lines so far have told. Every kind counts in its own way, so the fields mean what its
/// `take` says.
struct Tally {
  std::string_view label;  ///< `diff`, `TypeScript source`
  int form = 0;            ///< which of the kind's forms it is
  uint64_t lines = 0;
  uint64_t things = 0;  ///< hits, entries, commits, headings, definitions
  uint64_t groups = 0;  ///< files
  uint64_t added = 0;
  uint64_t removed = 0;
  int64_t old_left = 0;       ///< of a diff's hunk: lines of the old file still to come
  bool inside = false;        ///< a hunk, a fence
  std::string last;           ///< the group at hand
  std::vector<uint64_t> met;  ///< hashes of groups, in order
  std::vector<Named> named;
};

/// A kind. `fits` says whether a sample is of it, and sets label and form; `take` counts a line;
/// `tell` writes the facts, with their commas.
struct Kind {
  bool (*fits)(const Sample& sample, Tally& tally);
  void (*take)(Tally& tally, std::string_view line);
  void (*tell)(const Tally& tally, std::string& facts);
};

// changes.cpp: diffs, and the log of git
extern const Kind kChanges;
// printed.cpp: messages of compilers, search hits, stack traces, listings of files and processes
extern const Kind kMessages;
extern const Kind kHits;
extern const Kind kTrace;
extern const Kind kFiles;
extern const Kind kProcesses;
// notation.cpp
extern const Kind kMarkdown;
extern const Kind kYaml;
extern const Kind kToml;
extern const Kind kDrawn;
// source_code.cpp
extern const Kind kSource;

void add_named(Tally& tally, std::string_view text);

/// Counts and names a group, once: as many as are remembered, `kMostMet`.
void add_group(Tally& tally, std::string_view name);
inline constexpr size_t kMostMet = 1'000;

/// ` in 12 files (from the file): "a", "b"`, where there are any.
void append_files(std::string& facts, const Tally& tally);

/// `, intro (from the file): "a", "b"`; of files in a diff `"a" +1 −2`.
void append_named(std::string& facts, std::string_view intro, const Tally& tally);

/// ` +1 −2`
std::string write_change(uint64_t added, uint64_t removed);

/// `line` without white space at its beginning.
std::string_view skip_indent(std::string_view line);

/// Whether it has spaces or tabs alone.
bool is_empty(std::string_view line);

/// How many digits begin a text.
size_t count_digits(std::string_view text);

/// Whether a text begins with one of the words, each between bars.
bool begins_with(std::string_view text, std::string_view words);

/// Whether `some` of `all` are at least `percent` of them.
inline bool is_share(size_t some, size_t all, size_t percent) {
  return some * 100 >= all * percent;
}

}  // namespace kinds

/// Finds the kind of a text by its beginning, and counts its lines while it streams by, in constant
/// memory. The answer is the same for any chunking.
class TextKind {
 public:
  /// `head` is the beginning of the text; with `whole` nothing follows it. Push it too.
  TextKind(std::string_view head, bool whole);

  bool is_known() const { return kind_ != nullptr; }
  void push(std::string_view text);

  /// What it is, facts about it, and lines that are shown in place of its first ones.
  std::string_view label() const { return tally_.label; }
  std::string facts() const;
  std::string headings() const;

 private:
  kinds::Tally finished() const;

  const kinds::Kind* kind_ = nullptr;
  kinds::Tally tally_;
  std::string line_;  // the beginning of the line at hand
};

/// A text in pieces cut anywhere, without the control sequences of terminals.
class PlainText {
 public:
  std::string push(std::string_view piece);

 private:
  std::string held_;  // a sequence that may go on
};

}  // namespace sluice
