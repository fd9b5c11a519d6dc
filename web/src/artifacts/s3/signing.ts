/**
 * Links to bytes in a bucket.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import type { Bucket } from "./bucket.js";
import { blobKey } from "./layout.js";
import type { Found } from "./refs.js";

/** The headers that the service answers with. They are signed with the rest: nobody can change them. */
export interface SignedAnswer {
  readonly disposition: string;
  readonly type: string;
}

/** A link that is good for so many seconds. */
export async function signedUrl(
  bucket: Bucket,
  { folder, record }: Found,
  seconds: number,
  { disposition, type }: SignedAnswer,
): Promise<string> {
  const { getSignedUrl } = await installed();
  const { sdk, client } = await bucket.connection.speaker();
  const command = new sdk.GetObjectCommand({
    ...bucket.at(blobKey(folder, record.blob)),
    ResponseContentDisposition: disposition,
    ResponseContentType: type,
    ResponseCacheControl: "private, no-store",
  });
  return getSignedUrl(client, command, { expiresIn: seconds });
}

async function installed() {
  try {
    return await import("@aws-sdk/s3-request-presigner");
  } catch (error) {
    const sentence = "Links need the package @aws-sdk/s3-request-presigner: install it beside this one.";
    throw new SluiceError("E_MISUSE", sentence, {}, { cause: error });
  }
}
