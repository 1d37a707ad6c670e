import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Matches,
  MaxLength,
  ValidateNested,
} from 'class-validator';
import { defineContract, EmptyRequest } from '../contract.js';

/** Kinds of alarms, with descriptions for the documentation. */
export const alarmKinds = {
  transport_down:
    'The platform’s messages cannot arrive: no webhook subscription works, or event sockets are not connected',
  platform_unavailable: 'The platform’s API does not respond to calls',
  subscription_not_enabled:
    'Subscriptions that the service needs are still not enabled on the platform, or do not stay enabled',
  shard_lost: 'A shard of the conduit has no connection, but other shards have one',
  channel_silent: 'A live channel with at least 300 events in an hour has then sent none for 10 minutes',
  clock_off:
    'A machine’s clock differs so much from the platform’s clock that the service may reject platform messages',
  disk_low:
    'The disk of DATA_DIR is nearly full, so the service rejects new events, scopes, endpoint definitions, and streamers',
  token_expiring: 'The token of a browser source expires within 30 days',
} as const;
export type AlarmKind = keyof typeof alarmKinds;

/** An alarm's key: the kind, followed by the affected thing if the kind can affect several things. Example: `shard_lost:3`. */
export type AlarmKey = AlarmKind | `${AlarmKind}:${string}`;

/** Maximum length of a key, in characters. */
export const maxAlarmKeyLength = 300;
/** Maximum number of open alarms. More alarms would not help to find the cause. */
export const maxOpenAlarms = 200;
/** Maximum number of cleared alarms in a list. */
export const maxClearedAlarms = 50;

const keyPattern = new RegExp(`^(${Object.keys(alarmKinds).join('|')})(:.+)?$`, 's');

/** Splits a key into its parts. */
export function parseAlarmKey(key: string): { kind: AlarmKind; subject: string | null } {
  const [kind = '', subject] = key.split(/:(.*)/s);
  return { kind: kind as AlarmKind, subject: subject ?? null }; // Safe cast: keys are checked where they arrive.
}

export class AlarmMessage {
  @IsUUID('all')
  id!: string;

  @Matches(keyPattern)
  key!: string;

  @IsIn(Object.keys(alarmKinds))
  kind!: AlarmKind;

  /** The affected thing, such as a channel, a shard, a machine, or a token; null if the kind can affect only one thing. */
  @IsOptional()
  @IsString()
  subject!: string | null;

  @IsString()
  message!: string;

  /** Milliseconds since 1970. */
  @IsInt()
  raisedAt!: number;

  /** Null while the alarm is open. */
  @IsOptional()
  @IsInt()
  clearedAt!: number | null;
}

export class ListAlarmsReply {
  /** Newest first. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AlarmMessage)
  open!: AlarmMessage[];

  /** Most recently cleared first. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AlarmMessage)
  cleared!: AlarmMessage[];
}

/** Lists the open alarms and the most recently cleared ones. */
export const listAlarms = defineContract({
  subject: 'request.platform-connector.list-alarms',
  request: EmptyRequest,
  reply: ListAlarmsReply,
  errors: [],
  timeoutMs: 2_000,
});

export class RaisedAlarm {
  @Matches(keyPattern)
  @MaxLength(maxAlarmKeyLength)
  key!: string;

  /** What is wrong and what to do. */
  @IsString()
  message!: string;
}

/** Alarms that one process raises or clears. */
export class ReportAlarmsRequest {
  /** Alarms whose cause still exists. */
  @IsArray()
  @ArrayMaxSize(maxOpenAlarms)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => RaisedAlarm)
  raised!: RaisedAlarm[];

  /** Keys of alarms whose cause is gone. */
  @IsArray()
  @ArrayMaxSize(maxOpenAlarms)
  @Matches(keyPattern, { each: true })
  cleared!: string[];
}

export class ReportAlarmsReply {}

/**
 * Raises and clears alarms. Processes must repeat the alarms that they raised (see `alarmRepeatMs`). The service clears an alarm that no
 * process repeats.
 */
export const reportAlarms = defineContract({
  subject: 'request.platform-connector.report-alarms',
  request: ReportAlarmsRequest,
  reply: ReportAlarmsReply,
  errors: [],
  timeoutMs: 5_000,
});

/** A process repeats its alarms at this interval. */
export const alarmRepeatMs = 20_000;
/** If no process repeats an alarm for this time, the service clears the alarm: the process that raised it has probably ended. */
export const alarmExpiryMs = 90_000;
