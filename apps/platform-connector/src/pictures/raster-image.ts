import { createHash } from 'node:crypto';
import { maxPictureBytes } from '@stream-events/contracts';

/** A picture in a format that cannot contain scripts. */
export interface RasterImage {
  bytes: Buffer;
  mediaType: string;
  /** The first 32 hexadecimal digits of the SHA-256 hash of the bytes. */
  hash: string;
}

/** The first bytes of each format, as Latin-1 text: `start` at offset 0 and, for WebP, `at8` at offset 8. */
const formats: readonly { mediaType: string; start: string; at8?: string }[] = [
  { mediaType: 'image/png', start: '\x89PNG\r\n\x1a\n' },
  { mediaType: 'image/jpeg', start: '\xff\xd8\xff' },
  { mediaType: 'image/gif', start: 'GIF87a' },
  { mediaType: 'image/gif', start: 'GIF89a' },
  // The four bytes between `start` and `at8` are the file size.
  { mediaType: 'image/webp', start: 'RIFF', at8: 'WEBP' },
];

const longestStart = 12;

/**
 * Reads a picture. Detects the format from the first bytes, and ignores the content type. Returns null for a picture larger than
 * `maxPictureBytes`, and for any other format, such as SVG, which can contain scripts.
 */
export function readRasterImage(bytes: Buffer): RasterImage | null {
  if (bytes.length > maxPictureBytes) return null;
  const head = bytes.toString('latin1', 0, longestStart);
  const format = formats.find(({ start, at8 = '' }) => head.startsWith(start) && head.startsWith(at8, 8));
  if (!format) return null;
  const { mediaType } = format;
  return { bytes, mediaType, hash: createHash('sha256').update(bytes).digest('hex').slice(0, 32) };
}
