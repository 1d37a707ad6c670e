import { cellLooks, cellStateOf } from './cell-state.js';

const type = { event_type: 'channel-cheer', active: true, unsupported: null };
const streamer = { disabled: false };
const consent = { event_types: null, states: { 'channel-cheer': 'granted' as const } };

describe(cellStateOf.name, () => {
  it('shows what the service reports', () => {
    expect(cellStateOf(type, streamer, consent)).toBe('granted');
    expect(cellStateOf(type, streamer, { ...consent, states: { 'channel-cheer': 'missing' } })).toBe(
      'missing',
    );
    expect(cellStateOf(type, streamer, undefined)).toBe('loading');
  });

  it('waits when the service has not planned the subscription yet', () => {
    expect(cellStateOf(type, streamer, { ...consent, states: {} })).toBe('waiting');
  });

  it('prefers unsupported to disabled, disabled to switched off, and switched off to not chosen', () => {
    const others = { ...consent, event_types: ['stream-online'] };
    expect(cellStateOf(type, streamer, others)).toBe('not_chosen');
    expect(cellStateOf({ ...type, active: false }, streamer, others)).toBe('switched_off');
    expect(cellStateOf({ ...type, active: false }, { disabled: true }, others)).toBe('disabled');
    expect(cellStateOf({ ...type, unsupported: 'why' }, { disabled: true }, others)).toBe('unsupported');
  });
});

describe('the marks of the states', () => {
  it('differ, because not everybody sees the colors', () => {
    const marks = Object.values(cellLooks).map(({ mark }) => mark);
    expect(new Set(marks).size).toBe(marks.length);
  });
});
