import { randomFillSync } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';

const idBytes = 16;
// Asking for random bytes costs the same for 16 as for some thousands, and more than everything else about an id.
const randomBytes = new Uint8Array(256 * idBytes);
let usedBytes = randomBytes.length;

// A clock that steps back by less goes on from where it was, so that ids ascend. By more, it was wrong before.
const maxStepBackMs = 1_000;

let lastMillisecond = 0;
let sequence = 0;

/** Mints the id of an event that is received now: UUIDv7, ascending within this process while its clock does not step back. */
export function mintEventId(): string {
  const random = takeRandomBytes();
  const now = Date.now();
  if (now > lastMillisecond || now < lastMillisecond - maxStepBackMs) {
    lastMillisecond = now;
    // Starting anywhere in the lower half leaves room to count and keeps the ids of two gateways apart.
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
