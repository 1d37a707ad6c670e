import { printEventRecord, type StoredEvent } from '@stream-events/contracts';
import { check, type Evidence } from './checker.js';
import { LedgerEntry, type Answer, type EventKind } from './ledger.js';

const data = (marker: string): string => `{"marker":"${marker}","amount":1}`;

function entry(marker: string, answers: Answer[], kind: EventKind = 'notification'): LedgerEntry {
  const made = new LedgerEntry({ marker, kind, eventType: 'channel-follow', eventData: data(marker) });
  for (const answer of answers) made.note(answer);
  return made;
}

function stored(marker: string, changes: Partial<StoredEvent> = {}): StoredEvent {
  return {
    id: `019aa3c1-7f5e-7cc2-9d5c-00000000000${marker}`,
    eventId: `message-${marker}`,
    eventType: 'channel-follow',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: data(marker),
    ...changes,
  };
}

const accepted: Answer = { kind: 'accepted', id: undefined };
const broken: Answer = { kind: 'broken' };
const refused: Answer = { kind: 'refused', status: 400 };
const unavailable: Answer = { kind: 'unavailable', status: 503 };
const publish = (event: StoredEvent) => ({ id: event.id, text: printEventRecord(event) });

/** An accepted event, correctly stored and published. Tests override single fields. */
function evidence(changes: Partial<Evidence>): Evidence {
  return {
    sent: [entry('1', [accepted])],
    listed: [stored('1')],
    deadLetters: new Set(),
    published: [publish(stored('1'))],
    ...changes,
  };
}

const kindsOf = (changes: Partial<Evidence>): string[] => check(evidence(changes)).map(({ kind }) => kind);

describe(check.name, () => {
  it('returns no findings when every promise is kept', () => {
    const listed = [stored('1'), stored('2'), stored('3')];

    expect(
      kindsOf({
        sent: [
          entry('1', [unavailable, accepted]),
          entry('2', [{ kind: 'accepted', id: stored('2').id }], 'keyed post'),
          entry('3', [broken]),
          entry('4', [{ kind: 'timeout' }]),
          entry('5', [refused]),
          entry('6', [{ kind: 'not connected' }], 'plain post'),
        ],
        listed,
        // Delivery is at least once: subscribers drop the second copy.
        published: [...listed, stored('2')].map(publish),
      }),
    ).toEqual([]);
  });

  it('finds an accepted event that is not listed', () => {
    expect(kindsOf({ listed: [], published: [] })).toEqual(['missing']);
  });

  it.each([
    ['an accepted', accepted],
    ['an in-doubt', broken],
  ])('finds %s event that is listed twice', (_, answer) => {
    const twice = [stored('1'), stored('1', { id: stored('9').id })];

    expect(kindsOf({ sent: [entry('1', [answer])], listed: twice, published: twice.map(publish) })).toEqual([
      'doubled',
    ]);
  });

  it.each([
    ['of another marker', stored('9')],
    ['without a marker', stored('9', { eventData: '{}' })],
  ])('finds an event %s that was never sent', (_, unknown) => {
    const listed = [stored('1'), unknown];

    expect(kindsOf({ listed, published: listed.map(publish) })).toEqual(['unknown']);
  });

  it.each([
    ['refused', refused],
    ['never sent', { kind: 'not connected' } as const],
  ])('finds a %s event that is listed', (_, answer) => {
    expect(kindsOf({ sent: [entry('1', [answer])] })).toEqual(['refused but stored']);
  });

  it('treats an event as in doubt when its connection broke before it was refused', () => {
    expect(kindsOf({ sent: [entry('1', [broken, refused])] })).toEqual([]);
  });

  it.each([
    ['type', { eventType: 'channel-raid' }],
    ['data', { eventData: '{"marker":"1","amount":1.0}' }],
  ])('finds an event whose %s was changed', (_, changes) => {
    const changed = stored('1', changes);

    expect(kindsOf({ listed: [changed], published: [publish(changed)] })).toEqual(['changed']);
  });

  it('finds an event that is stored under another id than in its 201 response', () => {
    const sent = [entry('1', [{ kind: 'accepted', id: stored('9').id }], 'plain post')];

    expect(kindsOf({ sent })).toEqual(['another id than told']);
  });

  it('finds an accepted event that became a dead letter, unless that is allowed', () => {
    const deadLetters = new Set(['1']);
    const poison = new LedgerEntry(entry('1', []).event, true);
    poison.note(accepted);

    expect(kindsOf({ deadLetters, listed: [], published: [] })).toEqual(['dead_lettered']);
    expect(kindsOf({ deadLetters, listed: [], published: [], sent: [poison] })).toEqual([]);
  });

  it('finds a listed event that is not on the stream', () => {
    expect(kindsOf({ published: [] })).toEqual(['not on the stream']);
  });

  it('finds a message on the stream without an event, except those of earlier runs', () => {
    const published = [stored('1'), stored('9')].map(publish);

    expect(kindsOf({ published })).toEqual(['unknown on the stream']);
    expect(kindsOf({ published, isKnownBefore: (id) => id === stored('9').id })).toEqual([]);
  });

  it('finds a message on the stream that differs from the list, even in a second copy', () => {
    const published = [publish(stored('1')), { id: stored('1').id, text: '{}' }];

    expect(kindsOf({ published })).toEqual(['changed on the stream']);
  });
});
