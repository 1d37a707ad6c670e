import { isEventOf, type EventRecord, type LiveEvent } from './live-event.js';

const record: EventRecord = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  event_id: null,
  event_type: 'channel-raid',
  event_source: 'PlatformSub',
  event_data: { viewers: 5 },
  created: '2026-11-21T07:30:00+0000',
  origin: 'platform',
};

/** Imitates how the client receives an event. */
function receive(sent: EventRecord): LiveEvent {
  return JSON.parse(JSON.stringify(sent)) as LiveEvent;
}

/** Each case uses fields that TypeScript knows only after narrowing the type. */
function describeEvent(event: LiveEvent): string {
  switch (event.event_type) {
    case 'channel-raid':
      return `${event.event_data.viewers.toFixed()} viewers`;
    case 'channel-chat-message':
      return event.event_data.message.fragments.map(({ text }) => text.trim()).join(' ');
    case 'drop-entitlement-grant':
      return event.event_data.events.map(({ id }) => id.trim()).join(' ');
    default:
      return Object.keys(event.event_data).join(' ');
  }
}

describe(isEventOf.name, () => {
  it('narrows a record to its type', () => {
    expect(isEventOf(record, 'channel-raid') && record.event_data.viewers.toFixed()).toBe('5');
    expect(isEventOf(record, 'channel-cheer')).toBe(false);
  });
});

describe('LiveEvent', () => {
  it('is a union of the types of the platform, and others', () => {
    expect(describeEvent(receive(record))).toBe('5 viewers');
    expect(describeEvent(receive({ ...record, event_type: 'mine' }))).toBe('viewers');
  });
});
