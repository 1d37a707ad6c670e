import { randomFillSync } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';

const idBytes = 16;
// Fetching random bytes is the most expensive part of an id, but fetching thousands of bytes costs hardly more than fetching 16. Therefore,
// fetch enough bytes for 256 ids at once.
const randomBytes = new Uint8Array(256 * idBytes);
let usedBytes = randomBytes.length;

// Maximum step back of the clock that ids ignore. After such a step, ids keep counting from the last time, so that they still ascend. A
// larger step means that the clock was wrong before.
const maxStepBackMs = 1_000;

let lastMillisecond = 0;
let sequence = 0;

/**
 * Generates a UUIDv7. Within a process, ids ascend unless the clock steps back by more than 1 s. After such a step, the library's own `v7`
 * would use the wrong time until the clock reaches that time again.
 */
export function generateId(): string {
  const random = takeRandomBytes();
  const now = Date.now();
  if (now > lastMillisecond || now < lastMillisecond - maxStepBackMs) {
    lastMillisecond = now;
    // Start at a random value in the lower half of the range. The upper half leaves room to count; the randomness keeps processes from
    // generating the same id.
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
