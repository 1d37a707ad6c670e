import { Controller, Module, type DynamicModule, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  listEvents,
  lookUpStreams,
  lookUpUsers,
  reconcileSubscriptions,
  ServiceError,
  setStreamerEventTypes,
  type AcceptedReply,
  type Contract,
  type EmptyRequest,
  type ListEventsReply,
  type ListEventsRequest,
  type LookUpStreamsReply,
  type LookUpStreamsRequest,
  type LookUpUsersReply,
  type LookUpUsersRequest,
  type PlatformStreamMessage,
  type PlatformUserMessage,
  type SetStreamerEventTypesRequest,
  type StoredEvent,
  type StreamerEventTypesReply,
} from '@stream-events/contracts';
import { ErrorResponder, Handles, NatsServerStrategy } from '@stream-events/messaging';
import { createLogger } from '@stream-events/service';
import type { TestNats } from '@stream-events/testing';

/** What the stand-in connector replies, and the requests that it received. */
export class StandInPlatform {
  users: PlatformUserMessage[] = [];
  streams: PlatformStreamMessage[] = [];
  isAway = false;
  /** The connector's clock, for `askedAt`. */
  now: () => number = () => Date.now();
  /** Replies wait for this promise. */
  gate: Promise<void> = Promise.resolve();
  readonly streamLookUps: string[][] = [];
  readonly userLookUps: LookUpUsersRequest[] = [];
  hints = 0;
  readonly eventTypeChoices: SetStreamerEventTypesRequest[] = [];

  async answer(): Promise<void> {
    await this.gate;
    if (this.isAway) throw new ServiceError('unavailable', 'The platform does not respond.');
  }
}

@Controller()
class StandInConnectorController {
  constructor(private readonly platform: StandInPlatform) {}

  @Handles(lookUpUsers)
  async lookUpUsers(request: LookUpUsersRequest): Promise<LookUpUsersReply> {
    this.platform.userLookUps.push(request);
    await this.platform.answer();
    const { ids, logins } = request;
    return {
      users: this.platform.users.filter(({ id, login }) => ids.includes(id) || logins.includes(login)),
    };
  }

  @Handles(lookUpStreams)
  async lookUpStreams({ userIds }: LookUpStreamsRequest): Promise<LookUpStreamsReply> {
    this.platform.streamLookUps.push(userIds);
    const askedAt = this.platform.now();
    await this.platform.answer();
    return { streams: this.platform.streams.filter(({ userId }) => userIds.includes(userId)), askedAt };
  }

  @Handles(reconcileSubscriptions)
  async reconcile(_request: EmptyRequest): Promise<AcceptedReply> {
    this.platform.hints += 1;
    await this.platform.answer();
    return {};
  }

  @Handles(setStreamerEventTypes)
  async setEventTypes(request: SetStreamerEventTypesRequest): Promise<StreamerEventTypesReply> {
    this.platform.eventTypeChoices.push(request);
    await this.platform.answer();
    return { types: request.types };
  }
}

const noRecords = Buffer.alloc(0);

/** The events of the stand-in events service, newest first. */
export class StandInEvents {
  events: StoredEvent[] = [];
  isAway = false;
  /** Runs during a read, after the page was chosen. */
  whileRead: () => Promise<unknown> = () => Promise.resolve();
}

@Controller()
class StandInEventsController {
  constructor(private readonly log: StandInEvents) {}

  /** Only two events per page, so that tests read several pages. */
  @Handles(listEvents)
  async list({ filters, position }: ListEventsRequest): Promise<ListEventsReply> {
    if (this.log.isAway) throw new ServiceError('unavailable', 'The database is not available.');
    if (position?.direction === 'newer') return this.readOldest();
    const matching = this.log.events.filter(
      (event) =>
        event.eventType === filters.eventType &&
        (JSON.parse(event.eventData) as Record<string, unknown>).broadcaster_user_id === // Safe cast: the tests write objects.
          filters.broadcasterUserId,
    );
    const begin = position ? matching.findIndex(({ id }) => id === position.id) + 1 : 0;
    const events = matching.slice(begin, begin + 2);
    const last = events.at(-1);
    const isEnd = begin + 2 >= matching.length || !last;
    const next = isEnd ? null : { direction: 'older' as const, id: last.id, inclusive: false };
    await this.log.whileRead();
    return { events, records: noRecords, next, previous: null };
  }

  private readOldest(): ListEventsReply {
    const [oldest] = [...this.log.events].sort((one, other) => (one.id < other.id ? -1 : 1));
    return { events: oldest ? [oldest] : [], records: noRecords, next: null, previous: null };
  }
}

@Module({})
class StandInModule {
  static with(controller: new (part: never) => object, part: object): DynamicModule {
    const provider = { provide: part.constructor, useValue: part };
    return { module: StandInModule, controllers: [controller], providers: [provider] };
  }
}

/** Stands in for the platform connector on a real broker. */
export function startStandInConnector(nats: TestNats, platform: StandInPlatform): Promise<INestMicroservice> {
  const contracts = [lookUpUsers, lookUpStreams, reconcileSubscriptions, setStreamerEventTypes];
  return serve(
    nats,
    'platform-connector',
    contracts,
    StandInModule.with(StandInConnectorController, platform),
  );
}

/** Stands in for the events service on a real broker. */
export function startStandInEvents(nats: TestNats, log: StandInEvents): Promise<INestMicroservice> {
  return serve(nats, 'events', [listEvents], StandInModule.with(StandInEventsController, log));
}

async function serve(
  nats: TestNats,
  user: string,
  contracts: readonly Contract<object, object>[],
  module: DynamicModule,
): Promise<INestMicroservice> {
  const strategy = new NatsServerStrategy({ urls: [nats.urlFor(user)], name: user, queue: user, contracts });
  const service = await NestFactory.createMicroservice(module, {
    strategy,
    logger: false,
    abortOnError: false,
  });
  service.useGlobalFilters(new ErrorResponder(createLogger('test', 'silent'), (error) => error));
  await service.listen();
  return service;
}
