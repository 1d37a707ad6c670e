import { createHash } from 'node:crypto';
import { ServiceError, type ListPosition } from '@stream-events/contracts';
import { parse as parseUuid, validate as isUuid } from 'uuid';

// Layout of a cursor: version (1 byte) | flags (1) | id (16) | checksum over these fields and the list (8)
const version = 1;
const newerFlag = 1;
const inclusiveFlag = 2;
const checksumAt = 18;
const cursorBytes = 26;

/**
 * Encodes a position as an opaque, URL-safe cursor. The checksum covers the list (path and filters), so that other lists reject the cursor
 * instead of returning an unrelated page.
 */
export function printCursor(position: ListPosition, list: string): string {
  const flags = (position.direction === 'newer' ? newerFlag : 0) | (position.inclusive ? inclusiveFlag : 0);
  const bytes = Buffer.concat([Buffer.from([version, flags]), parseUuid(position.id)]);
  return Buffer.concat([bytes, checksumOf(bytes, list)]).toString('base64url');
}

/** @throws ServiceError `invalid` on `cursor` when the cursor is broken or belongs to another list */
export function parseCursor(cursor: string, list: string): ListPosition {
  const bytes = Buffer.from(cursor, 'base64url');
  const isWhole =
    bytes.length === cursorBytes && bytes.toString('base64url') === cursor && bytes[0] === version;
  const flags = bytes[1] ?? 0;
  if (!isWhole || flags > (newerFlag | inclusiveFlag))
    throw ServiceError.onField(
      'cursor',
      'is not a cursor of this API: request the first page without a cursor',
    );
  if (!bytes.subarray(checksumAt).equals(checksumOf(bytes.subarray(0, checksumAt), list)))
    throw ServiceError.onField(
      'cursor',
      'is damaged, or belongs to another list or other filters: request the first page without a cursor',
    );
  const id = printId(bytes.subarray(2, checksumAt));
  return { direction: flags & newerFlag ? 'newer' : 'older', id, inclusive: (flags & inclusiveFlag) !== 0 };
}

function printId(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  if (!isUuid(id))
    throw ServiceError.onField(
      'cursor',
      'is not a cursor of this API: request the first page without a cursor',
    );
  return id;
}

function checksumOf(bytes: Uint8Array, list: string): Buffer {
  return createHash('sha256').update(bytes).update(list).digest().subarray(0, 8);
}
