import { SluiceViewer } from "mcp-sluice/ui";
import { readDocuments } from "../documents.js";
import { smoke } from "../smoke.js";

// The app has no pdfjs-dist, which no bundler has a reason to mention.
document.body.append(new SluiceViewer());

const tried = async () => ({ ...(await smoke()), documents: await readDocuments() });
const report = await tried().catch(({ code, message, cause }) => ({ code, message, cause: String(cause) }));
document.querySelector("output").textContent = JSON.stringify(report);
