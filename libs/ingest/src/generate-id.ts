import { randomFillSync } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';

const idBytes = 16;
// Fetching random bytes costs more than all other work for an id, but fetching thousands of bytes costs no more than fetching 16.
// Therefore, fetch enough bytes for 256 ids.
const randomBytes = new Uint8Array(256 * idBytes);
let usedBytes = randomBytes.length;

// If the clock steps back by at most this time, ids continue from the last time, so that they ascend. A larger step means that
// the clock was wrong before the step.
const maxStepBackMs = 1_000;

let lastMillisecond = 0;
let sequence = 0;

/**
 * Generates an id that contains the current time: a UUIDv7. Ids ascend within a process, unless its clock steps back by more than 1 s. After
 * such a step, `v7` of the library would continue from the wrong time until the process ends.
 */
export function generateId(): string {
  const random = takeRandomBytes();
  const now = Date.now();
  if (now > lastMillisecond || now < lastMillisecond - maxStepBackMs) {
    lastMillisecond = now;
    // A random start in the lower half of the range leaves room to count, and makes it unlikely that two processes generate the same id.
    sequence = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
  } else {
    sequence += 1;
  }
  return uuidV7({ random, msecs: lastMillisecond, seq: sequence });
}

function takeRandomBytes(): Uint8Array {
  if (usedBytes === randomBytes.length) {
    randomFillSync(randomBytes);
    usedBytes = 0;
  }
  usedBytes += idBytes;
  return randomBytes.subarray(usedBytes - idBytes, usedBytes);
}
