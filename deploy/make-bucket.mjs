/**
 * Makes the bucket that is named, and waits half a minute for a service that is still starting. The environment says where it is and
 * who asks, as for `sluice serve`.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CreateBucketCommand, HeadBucketCommand, S3Client } from "@aws-sdk/client-s3";

const TRIES = 30;

const Bucket = process.argv[2];
const client = new S3Client({ forcePathStyle: true, maxAttempts: 1 });

async function isThere() {
  return client.send(new HeadBucketCommand({ Bucket })).then(
    () => true,
    () => false,
  );
}

for (let tries = 1; !(await isThere()); tries += 1) {
  try {
    await client.send(new CreateBucketCommand({ Bucket }));
  } catch (error) {
    if (tries === TRIES) throw error;
    await sleep(1000);
  }
}
console.log(`the bucket ${Bucket} is there`);
