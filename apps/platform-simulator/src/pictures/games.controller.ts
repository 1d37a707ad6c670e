import { BadRequestException, Controller, Get, Headers, Query, UseGuards } from '@nestjs/common';
import { readRepeated, type Repeated } from '../http/repeated.js';
import { PlatformApiGuard } from '../oauth/platform-api.guard.js';
import { categories } from '../world/population.js';

/** A category as the platform's API returns it (docs/platform-facts.md §4.4). */
interface GameView {
  id: string;
  name: string;
  box_art_url: string;
  igdb_id: string;
}

/** The platform calls categories "games". */
@Controller('helix/games')
@UseGuards(PlatformApiGuard)
export class GamesController {
  @Get()
  list(
    @Headers('host') host: string,
    @Query('id') id: Repeated,
    @Query('name') name: Repeated,
  ): { data: GameView[] } {
    const [ids, names] = [readRepeated('id', id), readRepeated('name', name)];
    if (ids.length + names.length === 0) throw new BadRequestException('id or name is required');
    const found = categories.filter((each) => ids.includes(each.id) || names.includes(each.name));
    return {
      data: found.map((category) => ({
        ...category,
        box_art_url: `http://${host}/pictures/categories/${category.id}-{width}x{height}.png`,
        igdb_id: '',
      })),
    };
  }
}
