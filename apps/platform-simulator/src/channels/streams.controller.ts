import {
  BadRequestException,
  Body,
  Controller,
  Delete,
  Get,
  Inject,
  Param,
  Patch,
  Post,
  Query,
  UseGuards,
} from '@nestjs/common';
import { pageOf, readRepeated, type Pagination, type Repeated } from '../http/request-parameters.js';
import { PlatformApiGuard } from '../oauth/platform-api.guard.js';
import { findListed } from '../world/broadcasts.js';
import type { Channel } from '../world/population.js';
import { World } from '../world/world.js';
import {
  ChangeStreamDto,
  EndStreamDto,
  StartStreamDto,
  StreamsService,
  viewStream,
  type SimulatedStream,
  type StreamTruth,
  type StreamView,
} from './streams.service.js';

type StreamQuery = Partial<
  Record<'user_id' | 'user_login' | 'game_id' | 'language' | 'first' | 'after', Repeated>
>;

// Default and maximum page size of the platform (FACTS.md §4.4).
const defaultFirst = 20;
const maxFirst = 100;

@Controller('helix/streams')
@UseGuards(PlatformApiGuard)
export class StreamsController {
  constructor(@Inject(World) private readonly world: World) {}

  @Get()
  list(@Query() query: StreamQuery): { data: StreamView[]; pagination: Pagination } {
    const now = Date.now();
    const first = readFirst([query.first].flat().at(-1));
    const games = readRepeated('game_id', query.game_id);
    const languages = readRepeated('language', query.language);
    const channels = this.findRequested(query, now).filter(
      ({ category, language }) =>
        (games.length === 0 || games.includes(category.id)) &&
        (languages.length === 0 || languages.includes(language)),
    );
    const { page, pagination } = pageOf(channels, [query.after].flat().at(-1), first);
    const data = page.flatMap((channel) => {
      const stream = findListed(channel, now);
      return stream ? [viewStream(channel, stream, now)] : [];
    });
    return { data, pagination };
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

/** Starts, changes, and ends streams. Lists a user's streams without the lag of the streams API. */
@Controller('simulator/streams')
export class SimulatedStreamsController {
  constructor(@Inject(StreamsService) private readonly streams: StreamsService) {}

  @Get()
  list(@Query('user_id') userId?: string): StreamTruth[] {
    if (!userId) throw new BadRequestException('the query parameter user_id is missing');
    return this.streams.list(userId);
  }

  @Post()
  start(@Body() request: StartStreamDto): SimulatedStream {
    return this.streams.start(request);
  }

  @Patch(':userId')
  change(@Param('userId') userId: string, @Body() request: ChangeStreamDto): SimulatedStream {
    return this.streams.change(userId, request);
  }

  @Delete(':userId')
  end(@Param('userId') userId: string, @Body() request?: EndStreamDto): SimulatedStream {
    return this.streams.end(userId, request ?? {});
  }
}
