# The modules that the library loads, each a glue and what it glues: core.mjs and core.wasm, and so contract, facts, pdf
# and tables. Of the core each takes only what its bindings reach.

# TOTAL_STACK was renamed in 3.1.25.
if(EMSCRIPTEN_VERSION VERSION_LESS 3.1.25)
  set(stack_size TOTAL_STACK)
else()
  set(stack_size STACK_SIZE)
endif()

# Embind without the half in C++ that registers types nobody uses: wasm/bindings/toolchain_stubs.cpp registers ours. It is
# written for one version's internals; others get the whole.
if(EMSCRIPTEN_VERSION VERSION_EQUAL 3.1.6)
  set(embind
    "SHELL:--js-library ${EMSCRIPTEN_ROOT_PATH}/src/embind/embind.js"
    "SHELL:--js-library ${EMSCRIPTEN_ROOT_PATH}/src/embind/emval.js")
  # What toolchain_stubs.cpp does in place of the toolchain's libraries.
  set(wrapped -Wl,--wrap=memchr -Wl,--wrap=snprintf -Wl,--wrap=strtod)
else()
  set(embind -lembind)
  set(wrapped "")
endif()

execute_process(COMMAND "${EM_CONFIG}" BINARYEN_ROOT
  OUTPUT_VARIABLE BINARYEN_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_program(WASM_OPT wasm-opt REQUIRED NO_CMAKE_FIND_ROOT_PATH HINTS "${BINARYEN_ROOT}/bin")
sluice_compile_small(wasm/bindings/core.cpp wasm/bindings/contract.cpp wasm/bindings/facts.cpp wasm/bindings/pdf.cpp wasm/bindings/tables.cpp wasm/bindings/toolchain_stubs.cpp)

# One module of the bindings in wasm/bindings/<module>.cpp; `initial_memory` in bytes, its stack included.
function(sluice_module target module initial_memory)
  add_executable(${target} wasm/bindings/${module}.cpp wasm/bindings/toolchain_stubs.cpp)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${module} SUFFIX .mjs)
  target_link_libraries(${target} PRIVATE sluice_core sluice_warnings)

  # Names of unbound types are only for messages, and need RTTI.
  target_compile_definitions(${target} PRIVATE EMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)

  target_link_options(${target} PRIVATE
    ${embind}
    ${wrapped}
    # A factory that makes any number of instances: after a trap one is dropped and another made.
    -sMODULARIZE=1
    -sEXPORT_ES6=1
    # Not `node`: on 3.1.6 its glue calls require(), which ES modules lack. Our loader reads the file.
    -sENVIRONMENT=web,worker
    # No eval, no new Function: runs under `script-src 'self' 'wasm-unsafe-eval'`.
    -sDYNAMIC_EXECUTION=0
    -sFILESYSTEM=0
    # Buffers are few and large: the small allocator serves as well as the big one.
    -sMALLOC=emmalloc
    # Assertions pull in glue that throws in Node on 3.1.6.
    -sASSERTIONS=0
    -sINCOMING_MODULE_JS_API=instantiateWasm,locateFile,onAbort,print,printErr
    -sEXPORTED_RUNTIME_METHODS=HEAPU8
    -sALLOW_MEMORY_GROWTH=1
    -sINITIAL_MEMORY=${initial_memory}
    # A large message grows its instance a few times, not a dozen.
    -sMEMORY_GROWTH_GEOMETRIC_STEP=0.5
    -sMAXIMUM_MEMORY=4294967296
    # The stack lies below the data, so that an overflow traps instead of overwriting it.
    -Wl,--stack-first
    -s${stack_size}=1048576)

  # Emscripten's own pass optimises what the linker wrote; a second one over its result finds another third of
  # a percent. It only shortens: the imports, by which the glue is bound, keep their names. (The last two features
  # are those that newer compilers turn on by themselves.)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND "${WASM_OPT}" -Oz --enable-simd --enable-bulk-memory --enable-sign-ext
      --enable-nontrapping-float-to-int --enable-mutable-globals --enable-reference-types --enable-multivalue
      ${module}.wasm -o ${module}.wasm
    VERBATIM)
endfunction()

# Most messages need no more. The collector of JavaScript counts an instance's memory as its own, and runs more often for it.
sluice_module(sluice_wasm core 2097152)
# What a tool answers has been reduced by the core before it comes here.
sluice_module(sluice_contract contract 2097152)
# Both ends of one file, and what a part of it is unpacked to.
sluice_module(sluice_facts_wasm facts 2097152)
target_link_libraries(sluice_facts_wasm PRIVATE sluice_facts)
sluice_module(sluice_pdf_wasm pdf 2097152)
target_link_libraries(sluice_pdf_wasm PRIVATE sluice_facts)
# Its heap is bounded by the query.
sluice_module(sluice_table_query tables 4194304)
target_link_libraries(sluice_table_query PRIVATE sluice_tables)
