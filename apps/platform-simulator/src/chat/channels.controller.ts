import { BadRequestException, Controller, Get, Inject, Query, UseGuards } from '@nestjs/common';
import { readRepeated, type Repeated } from '../http/repeated.js';
import { PlatformApiGuard } from '../oauth/platform-api.guard.js';
import { World } from '../world/world.js';

/** A channel as the platform's API returns it (docs/platform-facts.md §4.4). */
interface ChannelView {
  broadcaster_id: string;
  broadcaster_login: string;
  broadcaster_name: string;
  broadcaster_language: string;
  game_id: string;
  game_name: string;
  title: string;
  delay: number;
  tags: string[];
  content_classification_labels: string[];
  is_branded_content: boolean;
}

@Controller('helix/channels')
@UseGuards(PlatformApiGuard)
export class ChannelsController {
  constructor(@Inject(World) private readonly world: World) {}

  @Get()
  list(@Query('broadcaster_id') broadcasterId: Repeated): { data: ChannelView[] } {
    const ids = readRepeated('broadcaster_id', broadcasterId);
    if (ids.length === 0) throw new BadRequestException('Missing required parameter "broadcaster_id"');
    return { data: ids.flatMap((id) => (this.world.users.find(id) ? [this.view(id)] : [])) };
  }

  private view(id: string): ChannelView {
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
