import { maxPictureBytes } from '@stream-events/contracts';
import { readRasterImage } from './raster-image.js';

const png = '\x89PNG\r\n\x1a\n';

function read(start: string, length = 100): string | undefined {
  return readRasterImage(Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(length - start.length)]))
    ?.mediaType;
}

describe(readRasterImage.name, () => {
  it.each([
    [png, 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a', 'image/gif'],
    ['GIF87a', 'image/gif'],
    ['RIFF\x00\x01\n\x03WEBPVP8 ', 'image/webp'],
  ])('recognizes %j', (start, mediaType) => {
    expect(read(start)).toBe(mediaType);
  });

  it.each([
    '<svg xmlns="http://www.w3.org/2000/svg">',
    '<!DOCTYPE html>',
    ` ${png}`,
    '\x89PNG',
    'GIF88a',
    'RIFF\x00\x00\x00\x00WAVE',
    '%PDF-1.7',
    '',
  ])('rejects %j', (start) => {
    expect(read(start)).toBeUndefined();
  });

  it('rejects more than 512 KiB', () => {
    expect(read(png, maxPictureBytes)).toBe('image/png');
    expect(read(png, maxPictureBytes + 1)).toBeUndefined();
  });

  it('gives different pictures different hashes', () => {
    const [one, other] = ['a', 'b'].map((text) => readRasterImage(Buffer.from(png + text, 'latin1'))?.hash);

    expect(one).toMatch(/^[0-9a-f]{32}$/);
    expect(other).not.toBe(one);
  });
});
