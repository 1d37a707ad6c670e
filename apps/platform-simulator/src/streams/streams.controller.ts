import { BadRequestException, Controller, Get, Inject, Query, UseGuards } from '@nestjs/common';
import { decodeCursor, paginate, type Pagination } from '../http/page-cursor.js';
import { readRepeated, type Repeated } from '../http/repeated.js';
import { PlatformApiGuard } from '../oauth/platform-api.guard.js';
import { World } from '../world/world.js';
import type { Channel } from '../world/population.js';
import { findListed } from '../world/broadcasts.js';
import { viewStream, type StreamView } from './stream-view.js';

interface StreamQuery {
  user_id?: Repeated;
  user_login?: Repeated;
  game_id?: Repeated;
  language?: Repeated;
  first?: Repeated;
  after?: Repeated;
}

// Default and maximum page size of the platform (docs/platform-facts.md §4.4).
const defaultFirst = 20;
const maxFirst = 100;

@Controller('helix/streams')
@UseGuards(PlatformApiGuard)
export class StreamsController {
  constructor(@Inject(World) private readonly world: World) {}

  @Get()
  list(@Query() query: StreamQuery): { data: StreamView[]; pagination: Pagination } {
    const now = Date.now();
    const offset = decodeCursor([query.after].flat().at(-1));
    const first = readFirst([query.first].flat().at(-1));
    const games = readRepeated('game_id', query.game_id);
    const languages = readRepeated('language', query.language);
    const channels = this.findRequested(query, now).filter(
      ({ category, language }) =>
        (games.length === 0 || games.includes(category.id)) &&
        (languages.length === 0 || languages.includes(language)),
    );
    const page = channels.slice(offset, offset + first).flatMap((channel) => {
      const stream = findListed(channel, now);
      return stream ? [viewStream(channel, stream, now)] : [];
    });
    const end = offset + first;
    return { data: page, pagination: paginate(end < channels.length ? end : null) };
  }

  /** Returns the listed channels of the requested users. Without ids and logins, returns all listed channels. */
  private findRequested(query: StreamQuery, now: number): Channel[] {
    const ids = readRepeated('user_id', query.user_id);
    const logins = readRepeated('user_login', query.user_login);
    if (ids.length + logins.length === 0) return this.world.broadcasts.listAll(now);
    const found = logins.flatMap((login) => this.world.users.findByLogin(login)?.id ?? []);
    const channels = [...new Set([...ids, ...found])].flatMap((id) => this.world.findChannel(id) ?? []);
    return channels.filter((channel) => findListed(channel, now) !== undefined);
  }
}

function readFirst(text: string | undefined): number {
  if (!text) return defaultFirst;
  const first = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (first < 1 || first > maxFirst) throw new BadRequestException(`first must be 1 to ${maxFirst}`);
  return first;
}
