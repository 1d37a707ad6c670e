import { Injectable } from '@nestjs/common';
import { getStreamViewers, ServiceError, textFilters } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { isOwner, type Caller } from '../access/caller.js';
import { readTime } from '../http/time.js';
import { toTime } from '../replays/range-fields.js';
import type { ReplayedFilters } from '../replays/replay.entity.js';
import { RehearsalRunner } from './rehearsal-runner.service.js';
import type { Rehearsal } from './rehearsal.entity.js';
import type { RehearsalBody, RehearsalChangeBody } from './rehearsals.dto.js';
import { RehearsalsRepository, type RehearsalOrder } from './rehearsals.repository.js';

type Range = Pick<RehearsalOrder, 'streamerId' | 'streamId' | 'filters' | 'since' | 'until'>;

/** Starts, lists, and changes rehearsals. Users can access the rehearsals for their own connections, owners all rehearsals. */
@Injectable()
export class RehearsalsService {
  constructor(
    private readonly client: RequestClient,
    private readonly rehearsals: RehearsalsRepository,
    private readonly runner: RehearsalRunner,
  ) {}

  /**
   * @throws ServiceError `invalid` with the errors by field; `forbidden` for another user's connections; `not_found` for an unknown stream;
   * `conflict` and `too_many_requests` like `RehearsalsRepository.create`
   */
  async begin(body: RehearsalBody, caller: Caller, requestId: string): Promise<Rehearsal> {
    const userId = body.user?.toLowerCase() ?? caller.id;
    if (userId !== caller.id && !isOwner(caller))
      throw new ServiceError('forbidden', 'Only owners can start rehearsals for other users’ connections.');
    const range = await this.resolveRange(body, requestId);
    const { connection: connectionName, speed = 1, paused: isPaused = false, position } = body;
    const reachedAt = position === undefined ? range.since : readPosition(position, range);
    const createdBy = caller.username;
    return this.runner.begin({ ...range, userId, connectionName, speed, isPaused, reachedAt, createdBy });
  }

  /** Newest first. Owners see all rehearsals, users those for their own connections. */
  list(caller: Caller): Promise<Rehearsal[]> {
    return this.rehearsals.list(isOwner(caller) ? undefined : caller.id);
  }

  /** @throws ServiceError `not_found` */
  async get(id: string, caller: Caller): Promise<Rehearsal> {
    const found = await this.rehearsals.find(id);
    if (found && (found.userId === caller.id || isOwner(caller))) return found;
    throw new ServiceError('not_found', `The rehearsal ${id} does not exist.`);
  }

  /** @throws ServiceError `not_found`; `invalid` on `position`; `conflict` if the rehearsal has ended */
  async change(id: string, body: RehearsalChangeBody, caller: Caller): Promise<Rehearsal> {
    const { speed, paused: isPaused, position } = body;
    const found = await this.get(id, caller);
    const reachedAt = position === undefined ? undefined : readPosition(position, found);
    const changed = await this.rehearsals.change(id, {
      ...(speed !== undefined && { speed }),
      ...(isPaused !== undefined && { isPaused }),
      ...(reachedAt && { reachedAt }),
    });
    if (!changed)
      throw new ServiceError('conflict', `The rehearsal ${id} has ended. Start a new rehearsal instead.`);
    return changed;
  }

  /**
   * Cancels a running rehearsal, or deletes an ended one.
   *
   * @throws ServiceError `not_found`
   */
  async remove(id: string, caller: Caller): Promise<void> {
    await this.get(id, caller);
    await this.rehearsals.stopOrRemove(id);
  }

  private async resolveRange(body: RehearsalBody, correlationId: string): Promise<Range> {
    const filters = readFilters(body);
    const { streamer: streamerId, stream: streamId, since, until } = body;
    const now = Date.now();
    if (streamerId === undefined || streamId === undefined) {
      const end = Math.min(toTime(until) ?? now, now);
      return {
        ...{ streamerId: null, streamId: null, filters },
        // No event is older than 1970, so the range starts in 1970 at the earliest.
        ...{ since: new Date(Math.max(toTime(since) ?? 0, 0)), until: new Date(end) },
      };
    }
    if (filters.channel_id !== undefined)
      throw ServiceError.onField(
        'channel_id',
        'cannot be combined with stream, which determines the channel',
      );
    const { stream } = await this.client.request(
      getStreamViewers,
      { streamerId, streamId },
      { correlationId },
    );
    return {
      ...{ streamerId, streamId },
      // Exclude test events by default: they were not part of the stream.
      filters: { origin: 'platform', ...filters, channel_id: stream.userId },
      ...{ since: new Date(stream.startedAt), until: new Date(stream.endedAt ?? now) },
    };
  }
}

function readFilters(body: RehearsalBody): ReplayedFilters {
  const filters = textFilters.flatMap(({ name }) => (body[name] ? [[name, body[name]]] : []));
  return Object.fromEntries(filters) as ReplayedFilters; // Safe cast: the names are those of text filters.
}

/** @throws ServiceError `invalid` on `position` for a time outside the range */
function readPosition(text: string, { since, until }: Pick<Rehearsal, 'since' | 'until'>): Date {
  const time = readTime(text) ?? NaN;
  if (time >= since.getTime() && time <= until.getTime()) return new Date(time);
  throw ServiceError.onField(
    'position',
    `must be a time from ${since.toISOString()} to ${until.toISOString()}`,
  );
}
