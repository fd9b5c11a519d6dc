# Questions of tables: SQLite over virtual tables of ours. Not part of the core, which does no I/O: this asks the host for
# bytes. SQLite's source comes with an npm package, which setup installs; nothing else of that package is used.
set(sqlite_folder "${CMAKE_SOURCE_DIR}/node_modules/better-sqlite3/deps/sqlite3")
if(NOT EXISTS "${sqlite_folder}/sqlite3.c")
  message(FATAL_ERROR "SQLite is missing: run `npm run setup`.")
endif()
enable_language(C)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()

add_library(sqlite STATIC "${sqlite_folder}/sqlite3.c")
target_include_directories(sqlite SYSTEM PUBLIC "${sqlite_folder}")
target_compile_definitions(sqlite PUBLIC
  # No files, threads or extensions: wasm/src/tables/database.cpp says what a system is.
  SQLITE_OS_OTHER=1 SQLITE_THREADSAFE=0 SQLITE_TEMP_STORE=3 SQLITE_MAX_ATTACHED=0
  SQLITE_OMIT_LOAD_EXTENSION SQLITE_OMIT_SHARED_CACHE SQLITE_OMIT_WAL SQLITE_OMIT_LOCALTIME SQLITE_OMIT_INCRBLOB
  # Tests make databases in memory, and take their bytes.
  $<$<NOT:$<OR:$<BOOL:${SLUICE_TESTS}>,$<BOOL:${SLUICE_FUZZ}>>>:SQLITE_OMIT_DESERIALIZE>
  # Nothing that is never called.
  SQLITE_OMIT_DEPRECATED SQLITE_OMIT_COMPILEOPTION_DIAGS SQLITE_OMIT_TCL_VARIABLE SQLITE_OMIT_TRACE
  SQLITE_OMIT_GET_TABLE SQLITE_OMIT_COMPLETE SQLITE_UNTESTABLE
  # The limit of the heap counts what is taken.
  SQLITE_DEFAULT_MEMSTATUS=1 SQLITE_MAX_COLUMN=32767 SQLITE_USE_ALLOCA SQLITE_LIKE_DOESNT_MATCH_BLOBS
  # "text" is a name, never a text.
  SQLITE_DQS=0 SQLITE_ENABLE_MATH_FUNCTIONS SQLITE_ENABLE_PERCENTILE)
if(EMSCRIPTEN)
  target_compile_options(sqlite PRIVATE -Os ${wasm})
elseif(SLUICE_SANITIZE)
  # Of SQLite's own arithmetic UndefinedBehaviorSanitizer says things that its makers know. Not optimised, since clang takes a
  # minute for -O1 under AddressSanitizer, and four seconds for this.
  target_compile_options(sqlite PRIVATE -w -O0 -fsanitize=address)
else()
  target_compile_options(sqlite PRIVATE -w -O2)
endif()

file(GLOB table_sources RELATIVE "${CMAKE_SOURCE_DIR}" CONFIGURE_DEPENDS wasm/src/tables/*.cpp)
add_library(sluice_tables STATIC ${table_sources})
sluice_compile_small(${table_sources})
target_link_libraries(sluice_tables PUBLIC sluice_core sqlite PRIVATE sluice_warnings)
