/**
 * Names and contents of what is secret, so that the server learns neither.
 * @module
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { wrong } from "../../core/call.js";
import { SluiceError } from "../../errors/error.js";
import { SHORTEST_SECRET } from "../sessions/session-token.js";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What stands before what is sealed: how it is. */
const VERSION = "1.";

/** Seals with keys of its own, made of a secret. Nothing of them shows in logs. */
export class Sealing {
  readonly #naming: Buffer;
  readonly #sealing: Buffer;

  /** `purpose` keeps apart what has the same secret. Throws SluiceError E_INVALID_ARGUMENT for a secret that is too short. */
  constructor(secret: string, purpose: string) {
    if (typeof secret !== "string" || secret.length < SHORTEST_SECRET) {
      throw wrong("secret", `a text of at least ${SHORTEST_SECRET} characters`);
    }
    this.#naming = keyOf(secret, `${purpose}: names`);
    this.#sealing = keyOf(secret, `${purpose}: contents`);
  }

  /** 64 hexadecimal digits that only whoever has the secret can make of a name. */
  name(name: string): string {
    return createHmac("sha256", this.#naming).update(name).digest("hex");
  }

  /** A text that can be opened under this name alone. */
  seal(text: string, name: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#sealing, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
    const sealed = [cipher.update(text, "utf8"), cipher.final()];
    return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString("base64");
  }

  /** What was sealed. Throws SluiceError E_STORE_CORRUPT for anything else, and for what is another name's. */
  open(sealed: string, name: string): string {
    const bytes = Buffer.from(sealed.slice(VERSION.length), "base64");
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    try {
      const cipher = createDecipheriv(CIPHER, this.#sealing, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(name)).setAuthTag(tag);
      const rest = bytes.subarray(NONCE_BYTES + TAG_BYTES);
      if (sealed.startsWith(VERSION)) return cipher.update(rest, undefined, "utf8") + cipher.final("utf8");
    } catch {
      // What the cipher says helps nobody.
    }
    throw new SluiceError(
      "E_STORE_CORRUPT",
      "What is kept here is damaged, or another's: let the user give access anew.",
    );
  }
}

function keyOf(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", `mcp-sluice ${purpose}`, KEY_BYTES));
}
