/**
 * What the demo asks of which server, and why that is worth seeing.
 * @module
 */
import { join } from "node:path";

/** @typedef {{ server: string, tool: string, args: Record<string, unknown>, why: string, original?: string }} Call */

/** `original` is the name of the file that the artifact must equal. @returns {Call[]} */
export const calls = (folder) => [
  {
    server: "tableau",
    tool: "download_workbook",
    args: { name: "Sales Dashboard" },
    why: "a whole PDF as base64, in JSON, in a text block: the incident of RFC 0.3 §1.1",
    original: "workbook.pdf",
  },
  {
    server: "tableau",
    tool: "get_view_as_pdf",
    args: { view_name: "Revenue by Region" },
    why: "the same PDF twice, as text and as structuredContent",
  },
  { server: "tableau", tool: "list_workbooks", args: {}, why: "small, so it passes as it is" },
  { server: "everything", tool: "get-tiny-image", args: {}, why: "an image block between two texts" },
  {
    server: "everything",
    tool: "get-resource-links",
    args: { count: 3 },
    why: "links: nothing is read that nobody asked for",
  },
  {
    server: "everything",
    tool: "get-resource-reference",
    args: { resourceType: "Blob", resourceId: 1 },
    why: "an embedded resource with a blob",
  },
  {
    server: "everything",
    tool: "get-structured-content",
    args: { location: "Chicago" },
    why: "text and structuredContent that say the same",
  },
  {
    server: "filesystem",
    tool: "read_media_file",
    args: { path: join(folder, "photo.png") },
    why: "a PNG, once as a block and once in structuredContent",
    original: "photo.png",
  },
  {
    server: "filesystem",
    tool: "read_text_file",
    args: { path: join(folder, "report.pdf") },
    why: "a PDF read as text: broken bytes, twice",
  },
];
