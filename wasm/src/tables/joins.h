// Tables that a question reads again for each row of another one: these are kept in memory, where
// SQLite makes an index of them.
#pragma once

#include <string_view>

#include "tables/database.h"

namespace sluice::tables {

/// Keeps what `statement`, which was made of `sql`, would read more than once, and prepares it
/// again. False, with a failure, if that does not fit in memory.
bool keep_inner_tables(Database& database, std::string_view sql, Statement& statement);

}  // namespace sluice::tables
