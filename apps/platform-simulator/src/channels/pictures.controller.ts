import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { Controller, Get, Inject, NotFoundException, Param, StreamableFile } from '@nestjs/common';
import { categories } from '../world/population.js';
import { World } from '../world/world.js';

const userSize = { width: 300, height: 300 };
const maxPixels = 1_000;
const type = 'image/png';

/** Needs no token, like the platform's picture server (FACTS.md §4.4). */
@Controller('pictures')
export class PicturesController {
  constructor(@Inject(World) private readonly world: World) {}

  @Get('users/:file')
  user(@Param('file') file: string): StreamableFile {
    const id = /^(.+)\.png$/.exec(file)?.[1] ?? '';
    if (!this.world.users.find(id)) throw new NotFoundException();
    return new StreamableFile(drawPicture(`user ${id}`, userSize), { type });
  }

  @Get('categories/:file')
  category(@Param('file') file: string): StreamableFile {
    const [, id, width, height] = /^(\d+)-(\d{1,4})x(\d{1,4})\.png$/.exec(file) ?? [];
    const size = { width: Number(width), height: Number(height) };
    const isDrawable = [size.width, size.height].every((pixels) => pixels > 0 && pixels <= maxPixels);
    if (!isDrawable || !categories.some((category) => category.id === id)) throw new NotFoundException();
    return new StreamableFile(drawPicture(`category ${id}`, size), { type });
  }
}

/** In pixels. */
interface PictureSize {
  width: number;
  height: number;
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

// A few large, mirrored squares make pictures easy to tell apart.
const columns = 5;
const rows = 5;

/** Draws a pattern of squares in two colors as PNG. The same name always gives the same picture. */
function drawPicture(name: string, { width, height }: PictureSize): Buffer {
  const seed = createHash('sha256').update(name).digest();
  const lines = Array.from({ length: height }, (_, y) => {
    const row = Math.floor((y * rows) / height);
    const pixels = Array.from({ length: width }, (__, x) => {
      const column = Math.floor((x * columns) / width);
      return isFilled(seed, row, Math.min(column, columns - 1 - column)) ? 1 : 0;
    });
    return Buffer.from([0, ...pixels]); // 0: no filter on this line
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // 8 bits per pixel, with a palette
  const palette = Buffer.from([0xf0, 0xf0, 0xf4, ...seed.subarray(0, 3).map((part) => part >> 1)]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function isFilled(seed: Buffer, row: number, column: number): boolean {
  return ((seed[3 + row] ?? 0) >> column) % 2 === 1;
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(content), 4);
  return Buffer.concat([frame.subarray(0, 4), content, frame.subarray(4)]);
}
