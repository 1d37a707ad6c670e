import { BadRequestException, Controller, Get, Headers, Inject, Query, UseGuards } from '@nestjs/common';
import { readRepeated, type Repeated } from '../http/request-parameters.js';
import { PlatformApiGuard } from '../oauth/platform-api.guard.js';
import { categories } from '../world/population.js';
import { World } from '../world/world.js';

/** Channels, live or not, and categories (FACTS.md §4.4). */
@Controller('helix')
@UseGuards(PlatformApiGuard)
export class ChannelsController {
  constructor(@Inject(World) private readonly world: World) {}

  @Get('channels')
  listChannels(@Query('broadcaster_id') broadcasterId: Repeated): { data: object[] } {
    const ids = readRepeated('broadcaster_id', broadcasterId);
    if (ids.length === 0) throw new BadRequestException('Missing required parameter "broadcaster_id"');
    return { data: ids.flatMap((id) => (this.world.users.find(id) ? [this.view(id)] : [])) };
  }

  /** The platform calls categories "games". */
  @Get('games')
  listGames(
    @Headers('host') host: string,
    @Query('id') id: Repeated,
    @Query('name') name: Repeated,
  ): { data: object[] } {
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

  private view(id: string): object {
    const { broadcaster, language, category, title } = this.world.channel(id);
    return {
      broadcaster_id: broadcaster.id,
      broadcaster_login: broadcaster.login,
      broadcaster_name: broadcaster.name,
      broadcaster_language: language,
      game_id: category.id,
      game_name: category.name,
      title,
      delay: 0,
      tags: [],
      content_classification_labels: [],
      is_branded_content: false,
    };
  }
}
