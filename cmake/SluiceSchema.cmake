# config.schema.json: what the configuration may hold, and media-types.json: the MIME types known by name, written
# by a program that runs in node, so that the tables the core reads by are the only ones there are. None of it is in
# the module that ships.
#
# Of the core's objects only those it needs: a change elsewhere costs nothing here.
set(schema_sources "sluice_core[.]dir/([.]/)?wasm/src/((config|json|text)/|sniff/(types|mime))")
set(schema_objects "$<FILTER:$<TARGET_OBJECTS:sluice_core>,INCLUDE,${schema_sources}>")
add_executable(config_schema wasm/tools/config_schema.cpp "${schema_objects}")
sluice_compile_small(wasm/tools/config_schema.cpp)
target_include_directories(config_schema PRIVATE wasm/include wasm/src)
# It runs once: -O0, which has to stand behind the flags of the module, links in half the time.
target_link_libraries(config_schema PRIVATE sluice_flags sluice_warnings -O0)

# .cjs, since package.json makes .js an ES module and this glue is CommonJS.
set_target_properties(config_schema PROPERTIES SUFFIX .cjs)
target_link_options(config_schema PRIVATE -sENVIRONMENT=node -sEXIT_RUNTIME=1 -sWASM_ASYNC_COMPILATION=0)

# Behind its link, not as targets of their own: CMake refuses those in a folder with a `#` in its name.
add_custom_command(TARGET config_schema POST_BUILD
  COMMAND config_schema > config.schema.json
  COMMAND config_schema types > media-types.json
  VERBATIM)
