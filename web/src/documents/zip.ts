/**
 * The parts of zip.js that read. They are named, so that nothing else of it is bundled.
 * @module
 */
export { type FileEntry, Uint8ArrayReader, ZipReader } from "@zip.js/zip.js/lib/zip-core-custom.js";
