import { ApiProperty } from '@nestjs/swagger';
import {
  maxClearedAlarms,
  maxReportedClosings,
  maxReportedConnections,
  reportingServices,
  systemMeasures,
  type ClosedConnection,
  type InstanceReport,
  type ListAlarmsReply,
  type LiveConnectionReport,
  type OpenConnection,
  type ReportedMeasure,
  type ReportingService,
  type SystemMeasure,
} from '@stream-events/contracts';
import { exampleTime, printTime } from '../http/time.js';
import { AlarmRecord, toAlarmRecord } from '../platform/alarm.dto.js';
import type { HeardInstance } from './instance-board.js';

const exampleId = '5f0c2f0e-6a55-4a0c-9b43-4a1de5a7c001';

const instanceStates = ['ready', 'not_ready', 'silent'] as const;

export class InstanceRecord {
  @ApiProperty({ format: 'uuid', description: 'A random id, new at each start', example: exampleId })
  id!: string;

  @ApiProperty({ enum: reportingServices, description: 'The service', example: 'gateway' })
  service!: ReportingService;

  @ApiProperty({ description: 'The running version', example: '0.1.0' })
  version!: string;

  @ApiProperty({ description: 'The name of the machine or container', example: 'gateway-7d9f' })
  host!: string;

  @ApiProperty({ type: 'integer', description: 'The process id on that machine', example: 4711 })
  process_id!: number;

  @ApiProperty({ description: 'Time of the start, UTC, to the second', example: exampleTime })
  started!: string;

  @ApiProperty({ type: 'integer', description: 'Seconds since the instance started', example: 86400 })
  uptime_seconds!: number;

  @ApiProperty({ description: 'Time of the last report, UTC, to the second', example: exampleTime })
  last_report!: string;

  @ApiProperty({
    enum: instanceStates,
    description:
      '`ready`: all checks succeed. `not_ready`: some checks fail, or the instance is shutting down. `silent`: no report for 15 s, ' +
      'because the instance has died, hangs, or has no connection to NATS. The list omits an instance after a minute without a report',
    example: 'ready',
  })
  status!: (typeof instanceStates)[number];

  @ApiProperty({
    type: [String],
    description: 'The failed checks. Services in one process share their checks',
    example: [],
  })
  problems!: string[];

  @ApiProperty({
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(systemMeasures).map(([name, description]) => [name, { type: 'number', description }]),
    ),
    description:
      'The main measures of the instance. Measures that are currently unknown are absent. `/metrics` has the detailed measures',
    example: { memory_bytes: 187432960, live_connections: 12 },
  })
  measures!: Partial<Record<SystemMeasure, number>>;
}

class LiveConnectionBase {
  @ApiProperty({ format: 'uuid', description: 'A random id', example: exampleId })
  id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The name of the connection. Null if the client did not give a name',
    example: 'alerts',
  })
  name!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The name of the client’s token. Null for a main token',
    example: 'living-room overlay',
  })
  token_name!: string | null;

  @ApiProperty({ description: 'The user of the token', example: 'ada' })
  username!: string;

  @ApiProperty({ description: 'The address of the client', example: '203.0.113.7' })
  address!: string;

  @ApiProperty({
    enum: ['websocket', 'server-sent-events'],
    description: 'The transport',
    example: 'websocket',
  })
  transport!: LiveConnectionReport['transport'];

  @ApiProperty({ format: 'uuid', description: 'The id of the gateway instance', example: exampleId })
  instance_id!: string;

  @ApiProperty({ description: 'When the connection was opened, UTC, to the second', example: exampleTime })
  opened!: string;
}

export class LiveConnectionRecord extends LiveConnectionBase {
  @ApiProperty({
    enum: ['locating', 'catching_up', 'live'],
    description:
      '`locating`: the gateway looks for the position after which the client resumes. `catching_up`: the client gets older ' +
      'events. `live`: the client gets events as they happen',
    example: 'live',
  })
  state!: OpenConnection['state'];

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Number of events by which the client is behind the stream. Null while the state is `locating`',
    example: 0,
  })
  lag_events!: number | null;

  @ApiProperty({ type: 'integer', description: 'Bytes sent but not yet read by the client', example: 0 })
  unread_bytes!: number;

  @ApiProperty({ description: 'Whether the client asked for controls, as overlays do', example: true })
  takes_controls!: boolean;
}

/** A live connection that closed recently. */
export class ClosedConnectionRecord extends LiveConnectionBase {
  @ApiProperty({ description: 'When the connection was closed, UTC, to the second', example: exampleTime })
  closed!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'The close code that the closing side sent, or 1006 if the client disappeared without a close code. Null if the ' +
      'client ended a stream of server-sent events',
    example: 4408,
  })
  close_code!: number | null;

  @ApiProperty({
    description: 'Why the service closed the connection, or `left` if the client closed it',
    example: 'too_slow',
  })
  close_reason!: string;
}

export class SystemRecord {
  @ApiProperty({ type: [InstanceRecord], description: 'Every instance of every service, sorted by service' })
  instances!: InstanceRecord[];

  @ApiProperty({
    enum: reportingServices,
    isArray: true,
    description: 'Services without a reporting instance',
    example: [],
  })
  missing_services!: ReportingService[];

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Size of the events service’s database in bytes. Null while unknown',
    example: 734003200,
  })
  database_bytes!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Size of the EVENTS stream in bytes. Null while unknown',
    example: 104857600,
  })
  events_stream_bytes!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Size of the INGEST stream in bytes. Null while unknown',
    example: 0,
  })
  ingest_stream_bytes!: number | null;

  @ApiProperty({
    type: 'integer',
    description: 'Number of open live connections across all gateways',
    example: 1,
  })
  live_connections_count!: number;

  @ApiProperty({
    type: [LiveConnectionRecord],
    description: `Open live connections, furthest behind first; at most ${maxReportedConnections}`,
  })
  live_connections!: LiveConnectionRecord[];

  @ApiProperty({
    type: [ClosedConnectionRecord],
    description: `Live connections that were closed recently, newest first; at most ${maxReportedClosings}`,
  })
  closed_connections!: ClosedConnectionRecord[];

  @ApiProperty({
    type: [AlarmRecord],
    nullable: true,
    description:
      'The open alarms, newest first. Null if no platform connector responds, because the connectors store the alarms',
  })
  alarms!: AlarmRecord[] | null;

  @ApiProperty({
    type: [AlarmRecord],
    nullable: true,
    description: `The last ${maxClearedAlarms} alarms that were cleared, newest first. Null if \`alarms\` is null`,
  })
  cleared_alarms!: AlarmRecord[] | null;
}

export function toSystemRecord(
  heard: readonly HeardInstance[],
  alarms: ListAlarmsReply | null,
): SystemRecord {
  const present = heard.filter(({ isSilent }) => !isSilent);
  const live = present.flatMap(({ report: { id, live: connections } }) =>
    connections ? [{ id, ...connections }] : [],
  );
  const open = live
    .flatMap(({ id, open: connections }) => connections.map((connection) => toOpen(connection, id)))
    .sort((one, other) => lagOf(other) - lagOf(one));
  const closed = live
    .flatMap(({ id, closed: connections }) =>
      connections.map((connection) => ({ ...connection, instance: id })),
    )
    .sort((one, other) => other.closedAt - one.closedAt);
  return {
    instances: heard.map(toInstance),
    missing_services: reportingServices.filter((name) =>
      present.every(({ report }) => report.service !== name),
    ),
    database_bytes: sizeOf(present, 'database_bytes'),
    events_stream_bytes: sizeOf(present, 'events_stream_bytes'),
    ingest_stream_bytes: sizeOf(present, 'ingest_stream_bytes'),
    live_connections_count: live.reduce((sum, { count }) => sum + count, 0),
    live_connections: open.slice(0, maxReportedConnections),
    closed_connections: closed
      .slice(0, maxReportedClosings)
      .map((connection) => toClosed(connection, connection.instance)),
    alarms: alarms?.open.map(toAlarmRecord) ?? null,
    cleared_alarms: alarms?.cleared.map(toAlarmRecord) ?? null,
  };
}

/** Returns a user's open live connections, sorted by name. Skips silent instances. */
export function toLiveConnections(heard: readonly HeardInstance[], username: string): LiveConnectionRecord[] {
  const present = heard.filter(({ isSilent }) => !isSilent);
  return present
    .flatMap(({ report: { id, live } }) => (live?.open ?? []).map((connection) => toOpen(connection, id)))
    .filter((connection) => connection.username === username)
    .sort((one, other) => (one.name ?? '').localeCompare(other.name ?? ''));
}

function toInstance({ report, heardAt, isSilent }: HeardInstance): InstanceRecord {
  const { id, service, version, host, processId, startedAt, uptimeSeconds, problems, measures } = report;
  const status = problems.length > 0 ? 'not_ready' : 'ready';
  return {
    id,
    service,
    version,
    host,
    process_id: processId,
    started: printTime(startedAt),
    uptime_seconds: uptimeSeconds,
    last_report: printTime(heardAt),
    status: isSilent ? 'silent' : status,
    problems: [...problems],
    measures: toMeasures(measures),
  };
}

/** Leaves out the sizes, which the API returns once for all instances. */
function toMeasures(reported: InstanceReport['measures']): InstanceRecord['measures'] {
  return Object.fromEntries(Object.entries(reported).filter(([name]) => name in systemMeasures));
}

/** Returns the largest value. All instances report the same size, but measure it at slightly different times. */
function sizeOf(heard: readonly HeardInstance[], size: ReportedMeasure): number | null {
  const sizes = heard.flatMap(({ report: { measures } }) => measures[size] ?? []);
  return sizes.length > 0 ? Math.max(...sizes) : null;
}

function toBase(connection: LiveConnectionReport, instanceId: string): LiveConnectionBase {
  const { id, name, tokenName, username, address, transport, openedAt } = connection;
  return {
    id,
    name,
    token_name: tokenName,
    username,
    address,
    transport,
    instance_id: instanceId,
    opened: printTime(openedAt),
  };
}

function toOpen(connection: OpenConnection, instanceId: string): LiveConnectionRecord {
  const { state, lagEvents, unreadBytes, takesControls } = connection;
  return {
    ...toBase(connection, instanceId),
    state,
    lag_events: lagEvents,
    unread_bytes: unreadBytes,
    takes_controls: takesControls,
  };
}

function toClosed(connection: ClosedConnection, instanceId: string): ClosedConnectionRecord {
  const { closedAt, code, reason } = connection;
  return {
    ...toBase(connection, instanceId),
    closed: printTime(closedAt),
    close_code: code,
    close_reason: reason,
  };
}

function lagOf({ lag_events, unread_bytes }: LiveConnectionRecord): number {
  return (lag_events ?? Number.MAX_SAFE_INTEGER) + unread_bytes / 2 ** 32;
}
