/**
 * The web worker in which documents are converted: see `sandbox-web.ts`.
 * @module
 */
import { convert, type OptionalLibraries } from "./conversion.js";
import { unreadable } from "./document.js";
import type { Canvas, CanvasLibrary } from "./picture.js";
import { failureOf } from "./sandbox.js";
import type { WorkerAnswer, WorkerRequest } from "./sandbox-web.js";

const libraries: OptionalLibraries = {
  async pdf(): Promise<never> {
    throw unreadable("PDF is read where Sluice runs in Node, not in a browser: pass the URI as a tool argument.");
  },
  async canvas(): Promise<CanvasLibrary> {
    return {
      createCanvas,
      loadImage: (bytes) => createImageBitmap(new Blob([Uint8Array.from(bytes)])),
    };
  },
};

function createCanvas(width: number, height: number): Canvas {
  const canvas = new OffscreenCanvas(width, height);
  return {
    width,
    height,
    getContext: () => canvas.getContext("2d") as unknown as ReturnType<Canvas["getContext"]>,
    async encode(format: "png" | "jpeg", quality?: number): Promise<Uint8Array> {
      const options = { type: `image/${format}`, ...(quality !== undefined && { quality: quality / 100 }) };
      return new Uint8Array(await (await canvas.convertToBlob(options)).arrayBuffer());
    },
  };
}

const told = (answer: WorkerAnswer): void => postMessage(answer);

onmessage = async ({ data: { request, bytes } }: MessageEvent<WorkerRequest>): Promise<void> => {
  try {
    const facts = await convert(bytes, request, libraries, async (content) => told({ content }));
    told({ facts });
  } catch (error) {
    told({ failure: failureOf(error) });
  }
};
