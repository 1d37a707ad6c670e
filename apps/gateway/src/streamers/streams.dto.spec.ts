import { toRebuildRecord } from './rebuild.dto.js';
import { toStreamRecord, toStreamSample } from './streams.dto.js';

const time = Date.parse('2026-11-21T07:30:00.500Z');
const printed = '2026-11-21T07:30:00+0000';

describe(toStreamRecord.name, () => {
  const stream = {
    id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
    streamId: '41375541868',
    userId: '47019283',
    userLogin: 'mira_plays',
    userName: 'Mira_Plays',
    gameId: '493057',
    gameName: 'Celeste',
    type: 'live',
    title: 'Speedrunning',
    viewerCount: 312,
    startedAt: time,
    endedAt: null,
    language: 'en',
    thumbnailUrl: 'https://thumbnails.example/{width}x{height}.jpg',
    tagIds: null,
    isMature: false,
  };
  const record = {
    id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
    stream_id: '41375541868',
    user_id: '47019283',
    user_login: 'mira_plays',
    user_name: 'Mira_Plays',
    game_id: '493057',
    game_name: 'Celeste',
    type: 'live',
    title: 'Speedrunning',
    viewer_count: 312,
    started_at: printed,
    ended_at: null,
    language: 'en',
    thumbnail_url: 'https://thumbnails.example/{width}x{height}.jpg',
    tag_ids: null,
    is_mature: false,
  };

  it('returns a live stream with the fields of the contract', () => {
    expect(toStreamRecord(stream)).toEqual(record);
  });

  it('returns the end time and the tags of a stream', () => {
    expect(toStreamRecord({ ...stream, endedAt: time, tagIds: '["a"]' })).toEqual({
      ...record,
      ended_at: printed,
      tag_ids: '["a"]',
    });
  });
});

describe(toStreamSample.name, () => {
  it('returns a sample', () => {
    expect(toStreamSample({ at: time, viewerCount: 0, title: '', gameId: '1', gameName: 'Chess' })).toEqual({
      at: printed,
      viewer_count: 0,
      title: '',
      game_id: '1',
      game_name: 'Chess',
    });
  });
});

describe(toRebuildRecord.name, () => {
  it('returns the progress', () => {
    const rebuild = { state: 'failed' as const, streamersDone: 1, streamersTotal: 2, streamsChanged: 3 };

    expect(toRebuildRecord({ ...rebuild, startedAt: time, endedAt: null, error: 'why' })).toEqual({
      state: 'failed',
      streamers_done: 1,
      streamers_total: 2,
      streams_changed: 3,
      started_at: printed,
      ended_at: null,
      error: 'why',
    });
  });
});
