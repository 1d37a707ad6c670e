import type { StreamSummary } from './stream-queries.js';
import { explainPartial, listFacts, printSummary } from './summary-facts.js';

const none = { count: 0, viewers: 0, top: [] };

const summary: StreamSummary = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  stream_id: '41375541868',
  started_at: '2026-11-20T12:00:00+0000',
  ended_at: '2026-11-20T15:12:30+0000',
  duration_seconds: 11_550,
  partial: false,
  events: { total: 3, by_type: { 'channel-follow': 2, 'channel-cheer': 1 } },
  followers: 2,
  subscriptions: { total: 0, by_tier: [] },
  gifts: { total: 0, anonymous: 0, top_givers: [] },
  bits: { total: 50, anonymous: 0, top_cheerers: [{ user_id: '2', user_name: 'Two\u202e', total: 50 }] },
  raids: {
    incoming: {
      count: 1,
      viewers: 1,
      top: [{ at: '2026-11-20T13:00:00+0000', user_id: '3', user_name: null, viewers: 1 }],
    },
    outgoing: none,
  },
  viewers: { peak: 42, average: 20.4 },
  chat: { messages: 1, chatters: 1 },
};
const stream = { username: 'mira_plays', title: 'Speedruns\nall night', category: 'Celeste' };

describe('printSummary', () => {
  it('prints the numbers and names in lines, without what did not happen', () => {
    expect(printSummary(stream, summary).split('\n').slice(1)).toEqual([
      'Speedruns all night · Celeste',
      'Peak viewers: 42',
      'Average viewers: 20',
      'New followers: 2',
      'Bits: 50',
      'Chat messages: 1 (by 1 person)',
      'Raids: 1 (with 1 viewer)',
      'Top cheerers: Two (50 bits)',
      'Raided by: somebody (1 viewer)',
    ]);
    expect(printSummary(stream, summary)).toMatch(/^mira_plays, .*2026.*, 3 h 12 min\n/);
  });

  it('says that the numbers are not final, or incomplete', () => {
    expect(printSummary(stream, { ...summary, ended_at: null })).toMatch(/still running\.$/);
    expect(explainPartial({ ...summary, partial: true })).toContain('retention');
    expect(explainPartial(summary)).toBeUndefined();
  });
});

describe('listFacts', () => {
  it('shows viewers as unknown until the platform has listed the stream', () => {
    const { main } = listFacts({ ...summary, viewers: { peak: null, average: null } });
    expect(main.map(({ value }) => value)).toEqual(['unknown', 'unknown', '2']);
  });
});
