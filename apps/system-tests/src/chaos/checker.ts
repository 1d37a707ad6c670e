import { printEventRecord, type StoredEvent } from '@stream-events/contracts';
import { markerOf, type LedgerEntry } from './ledger.js';

/** A message on the EVENTS stream. */
export interface PublishedMessage {
  /** The `Nats-Msg-Id` header. Subscribers use it to deduplicate. */
  id: string;
  text: string;
}

/** Input for `check`: the sent events, and what the store and the stream contain. */
export interface Evidence {
  sent: readonly LedgerEntry[];
  listed: readonly StoredEvent[];
  /** Markers of events that became dead letters. */
  deadLetters: ReadonlySet<string>;
  /** Undefined if the stream was not read. */
  published: readonly PublishedMessage[] | undefined;
  /** Whether the id belongs to an event of an earlier scenario. Such an event can appear on the stream again. */
  isKnownBefore?: (id: string) => boolean;
  /** Compares the sent data with the listed data. Default: exact text. */
  isSameData?: (sent: string, listed: string) => boolean;
}

export interface Finding {
  kind:
    | 'missing'
    | 'doubled'
    | 'unknown'
    | 'refused but stored'
    | 'changed'
    | 'another id than told'
    | 'dead_lettered'
    | 'not on the stream'
    | 'unknown on the stream'
    | 'changed on the stream'
    | 'broken promise';
  /** The event's marker or id, or a description of the problem. */
  what: string;
}

/** Compares the sent events with the store and the stream. */
export function check(evidence: Evidence): Finding[] {
  const byMarker = groupByMarker(evidence.listed);
  return [
    ...checkSent(evidence, byMarker),
    ...checkUnknown(evidence, byMarker),
    ...(evidence.published ? checkPublished(evidence, evidence.published) : []),
  ];
}

type ByMarker = ReadonlyMap<string, readonly StoredEvent[]>;

function groupByMarker(events: readonly StoredEvent[]): ByMarker {
  const groups = new Map<string, StoredEvent[]>();
  for (const event of events) {
    const marker = markerOf(event.eventData) ?? 'no marker';
    const group = groups.get(marker);
    if (group) group.push(event);
    else groups.set(marker, [event]);
  }
  return groups;
}

function checkSent(evidence: Evidence, byMarker: ByMarker): Finding[] {
  const { sent, deadLetters, isSameData = (a, b) => a === b } = evidence;
  const findings: Finding[] = [];
  for (const entry of sent) {
    const what = entry.event.marker;
    const [found, ...others] = byMarker.get(what) ?? [];
    const isDeadLetter = deadLetters.has(what);
    if (isDeadLetter && !entry.canBeDeadLetter) findings.push({ kind: 'dead_lettered', what });
    if (others.length > 0) findings.push({ kind: 'doubled', what: `${what} (${others.length + 1} times)` });
    if (!found) {
      if (entry.outcome === 'accepted' && !isDeadLetter) findings.push({ kind: 'missing', what });
      continue;
    }
    if (entry.outcome === 'refused') findings.push({ kind: 'refused but stored', what });
    if (entry.id !== undefined && entry.id !== found.id)
      findings.push({ kind: 'another id than told', what });
    const { eventType, eventData } = entry.event;
    if (eventType !== found.eventType || !isSameData(eventData, found.eventData))
      findings.push({ kind: 'changed', what });
  }
  return findings;
}

function checkUnknown({ sent }: Evidence, byMarker: ByMarker): Finding[] {
  const markers = new Set(sent.map(({ event }) => event.marker));
  return [...byMarker]
    .filter(([marker]) => !markers.has(marker))
    .flatMap(([marker, events]) =>
      events.map(({ id }): Finding => ({ kind: 'unknown', what: `${marker}, ${id}` })),
    );
}

/** Checks that every listed event is on the stream, and that each copy equals the record from the API. */
function checkPublished(
  { listed, isKnownBefore = () => false }: Evidence,
  published: readonly PublishedMessage[],
): Finding[] {
  const records = new Map(listed.map((event) => [event.id, printEventRecord(event)]));
  const seen = new Set<string>();
  const findings: Finding[] = [];
  for (const { id, text } of published) {
    seen.add(id);
    const record = records.get(id);
    if (record === undefined) {
      if (!isKnownBefore(id)) findings.push({ kind: 'unknown on the stream', what: id });
    } else if (record !== text) {
      findings.push({ kind: 'changed on the stream', what: id });
    }
  }
  for (const id of records.keys()) if (!seen.has(id)) findings.push({ kind: 'not on the stream', what: id });
  return findings;
}
