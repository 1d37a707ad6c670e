import { Controller, Get, Inject, NotFoundException, Param, StreamableFile } from '@nestjs/common';
import { categories } from '../world/population.js';
import { World } from '../world/world.js';
import { drawPicture } from './draw-picture.js';

const userSize = { width: 300, height: 300 };
const maxPixels = 1_000;
const type = 'image/png';

/** Needs no token, like the platform's picture server (docs/platform-facts.md §4.4). */
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
