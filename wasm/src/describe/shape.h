// The shape of a JSON document: counts, kinds and the first keys, merged as values go by.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::outline {

/// The kind of a JSON value, as a bit, in the order in which kinds are named.
enum class Kind : uint8_t {
  integer = 1,
  number = 2,
  string = 4,
  boolean = 8,
  array = 16,
  object = 32,
  null = 64,
};

/// A set of kinds.
using Kinds = uint8_t;

struct List;

/// A key as it was met: the first bytes of its source, and a hash of those behind them.
struct Key {
  std::string source;
  uint64_t rest = 0;

  bool operator==(const Key&) const = default;
};

/// A member seen under one key, in one object or in many.
struct Field {
  Key key;
  Kinds kinds = 0;
  std::unique_ptr<List> list;  ///< of a root object's member that is an array
};

/// The members of an object, or of like objects: the first `kFields` keys, and a count of the rest.
struct Record {
  std::vector<Field> fields;
  uint64_t unnamed = 0;  ///< most members of one object that are not among `fields`
};

/// The elements of an array.
struct List {
  uint64_t count = 0;
  Kinds kinds = 0;
  Record items;  ///< of the first `kSampled` elements, where they are objects
};

/// Keys named of one object; elements whose keys are looked at.
inline constexpr size_t kFields = 8;
inline constexpr uint64_t kSampled = 100;

/// Follows the values of one document. `depth` counts the containers around a value; values deeper
/// than `kWatched` do not matter and need not be told.
///
///   depth        0   1      2    3              0   1   2
///   root object  {"rows": [ {"a": 1}, …    root [ {"a": 1}, …    list at 2, items' members at 3;
///                                               list at 1, items' members at 2
class Shape {
 public:
  static constexpr uint32_t kWatched = 3;

  /// A value of `kind` begins (a number: has ended).
  void value(Kind kind, uint32_t depth);
  /// The container that began at `depth` ends.
  void close(uint32_t depth);
  /// Whether the key of a member at `depth` matters; then it is told by `key` before its value.
  bool wants_key(uint32_t depth) const;
  /// Whether values at `depth` of the innermost container matter. If not, none inside them do.
  bool wants_values(uint32_t depth) const;
  void key(const Key& key, uint32_t depth);

  /// Another document follows on a line of its own: from now on the documents are the elements of
  /// an array around them, and their depths one more. May be told again.
  void begin_lines();
  bool is_lines() const { return lines_; }
  /// Whether all documents so far are objects.
  bool has_objects() const {
    return lines_ ? list_.kinds == static_cast<Kinds>(Kind::object) : root_ == Kind::object;
  }

  Kind root() const { return root_; }
  const Record& record() const { return record_; }
  const List& list() const { return list_; }
  /// The array whose end was not met, if there is one, and the depth of its elements.
  const List* open_list() const { return open_list_; }
  uint32_t list_depth() const { return root_ == Kind::array ? 1 : 2; }

 private:
  Kind root_ = Kind::null;
  bool lines_ = false;
  Record record_;                // of a root object
  List list_;                    // of a root array
  List* open_list_ = nullptr;    // the array whose elements are at list_depth()
  bool open_item_ = false;       // inside one of its sampled objects
  uint64_t unnamed_ = 0;         // members of that object not among the fields
  Field* field_ = nullptr;       // the root object's member at hand
  Field* item_field_ = nullptr;  // the item's member at hand
};

/// The shape in words, at most `limit` (300 or more) code points. The last `partial` elements of
/// the open array do not count.
std::string shape_text(const Shape& shape, size_t limit, uint64_t partial = 0);

}  // namespace sluice::outline
