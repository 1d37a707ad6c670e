import { Inject, Injectable } from '@nestjs/common';
import { ServiceError, type EventTypeMessage } from '@stream-events/contracts';
import {
  byPriority,
  eventTypes,
  findByAnyName,
  unsupportedReason,
  type ConditionValues,
  type EventType,
} from '@stream-events/platforms';
import { LOGGER, type Logger } from '@stream-events/service';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { ReconciliationSchedule } from '../subscriptions/reconciliation-schedule.repository.js';
import { EventTypesRepository, type SubscriptionCount } from './event-types.repository.js';

@Injectable()
export class EventTypesService {
  private readonly values: ConditionValues;

  constructor(
    private readonly choices: EventTypesRepository,
    private readonly schedule: ReconciliationSchedule,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.values = { clientId: settings.credentials?.clientId };
  }

  /** Adds the types that are new in this version of the service. */
  async start(): Promise<void> {
    await this.choices.seed(eventTypes, this.settings.platform);
  }

  /** Returns all types and versions in the catalog, sorted by type. */
  async list(): Promise<EventTypeMessage[]> {
    const [chosen, counts] = await Promise.all([this.choices.list(), this.choices.countSubscriptions()]);
    const active = new Set(chosen.filter((choice) => choice.active).map(nameOf));
    return [...eventTypes]
      .sort((a, b) => (a.type < b.type ? -1 : Number(a.type > b.type)))
      .map((row) => this.describe(row, active.has(nameOf(row)), counts));
  }

  /**
   * Activates the newest version of a type, or deactivates the type, for all streamers.
   *
   * @throws ServiceError `not_found`; `conflict` when the service cannot subscribe to the type
   */
  async set(name: string, isActive: boolean): Promise<EventTypeMessage> {
    const row = findByAnyName(name);
    if (!row) throw new ServiceError('not_found', `Event type ${name} does not exist.`);
    const reason = unsupportedReason(row, this.values);
    if (isActive && reason !== null)
      throw new ServiceError('conflict', `${row.type} cannot be activated. ${reason}`);
    await this.choices.choose(row.type, row.version, isActive);
    await this.schedule.hint();
    this.logger.info({ type: row.type, version: row.version, isActive }, 'event type changed');
    const counts = await this.choices.countSubscriptions();
    return this.describe(row, isActive, counts);
  }

  /** Returns a streamer's chosen types, or null when none were chosen. */
  async chosenFor(userId: string): Promise<string[] | null> {
    return this.choices.findChosen(userId);
  }

  /**
   * Subscribes a streamer only to those active types that the list names, or to all active types when the list is null.
   *
   * @throws ServiceError `not_found` for a type that does not exist
   */
  async chooseFor(userId: string, names: readonly string[] | null): Promise<string[] | null> {
    const types = names && [...new Set(names.map((name) => typeNamed(name)))].sort();
    await this.choices.saveChosen(userId, types);
    await this.schedule.hint();
    return types;
  }

  /** Returns the chosen types, by the streamer's id on the platform. Contains only streamers with chosen types. */
  async listChosen(): Promise<ReadonlyMap<string, string[]>> {
    return this.choices.listChosen();
  }

  /** Returns a function that tells whether a streamer should be subscribed to an active type. */
  async readChosen(): Promise<(userId: string, type: string) => boolean> {
    const chosen = await this.listChosen();
    return (userId, type) => chosen.get(userId)?.includes(type) ?? true;
  }

  /** Activates the newest version of every type that the service can subscribe to. */
  async activateAll(): Promise<void> {
    const newest = new Map(eventTypes.map((row) => [row.type, row]));
    for (const row of newest.values())
      if (unsupportedReason(row, this.values) === null)
        await this.choices.choose(row.type, row.version, true);
    await this.schedule.hint();
    this.logger.info('activated every supported event type');
  }

  /** Returns the active types that the service can subscribe to, by priority. */
  async active(): Promise<EventType[]> {
    const active = new Set((await this.choices.list()).filter((choice) => choice.active).map(nameOf));
    return byPriority(
      eventTypes.filter((row) => active.has(nameOf(row)) && unsupportedReason(row, this.values) === null),
    );
  }

  private describe(
    row: EventType,
    isActive: boolean,
    counts: readonly SubscriptionCount[],
  ): EventTypeMessage {
    const { type, version, condition, condition_exactly_one_of: oneOf, scopes, description } = row;
    const ofRow = counts.filter((count) => nameOf(count) === nameOf(row));
    return {
      type,
      version,
      condition: [...condition, ...oneOf],
      scopes,
      description,
      active: isActive,
      subscriptions: Object.fromEntries(ofRow.map(({ status, count }) => [status, count])),
      unsupported: unsupportedReason(row, this.values),
    };
  }
}

/** @throws ServiceError `not_found` */
function typeNamed(name: string): string {
  const row = findByAnyName(name);
  if (!row) throw new ServiceError('not_found', `Event type ${name} does not exist.`);
  return row.type;
}

function nameOf({ type, version }: { type: string; version: string }): string {
  return `${type} ${version}`;
}
