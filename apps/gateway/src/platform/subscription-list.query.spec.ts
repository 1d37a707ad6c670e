import { ServiceError } from '@stream-events/contracts';
import { v7 as uuidV7 } from 'uuid';
import { printCursor } from '../paging/cursor.js';
import { parseSubscriptionListQuery } from './subscription-list.query.js';

const position = { direction: 'older' as const, id: uuidV7(), inclusive: false };

function faultsOf(parameters: Record<string, string>): string[] {
  try {
    parseSubscriptionListQuery(parameters);
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('invalid');
    return Object.keys(error.errors ?? {}).sort();
  }
}

describe(parseSubscriptionListQuery.name, () => {
  it('requests the newest 50 of any status by default', () => {
    expect(parseSubscriptionListQuery({}).request).toEqual({ pageSize: 50 });
    expect(parseSubscriptionListQuery({ status: '', cursor: '', page_size: '', other: 'x' })).toEqual(
      parseSubscriptionListQuery({}),
    );
  });

  it('accepts any status, because the platform may add some', () => {
    expect(parseSubscriptionListQuery({ status: 'brand_new_1', page_size: '7' }).request).toEqual({
      status: 'brand_new_1',
      pageSize: 7,
    });
  });

  it('accepts an event type in either spelling, and a channel', () => {
    const request = { type: 'stream.online', channelId: '77', pageSize: 50 };
    for (const event_type of ['stream.online', 'stream-online'])
      expect(parseSubscriptionListQuery({ event_type, channel_id: '77' }).request).toEqual(request);
    expect(faultsOf({ event_type: 'nonsense', channel_id: 'a b' })).toEqual(['channel_id', 'event_type']);
  });

  it('accepts a cursor of the same status with any page size, and no other cursor', () => {
    const { list } = parseSubscriptionListQuery({ status: 'enabled' });
    const cursor = printCursor(position, list);

    expect(parseSubscriptionListQuery({ status: 'enabled', cursor, page_size: '1' }).request).toEqual({
      status: 'enabled',
      pageSize: 1,
      position,
    });
    expect(faultsOf({ cursor })).toEqual(['cursor']);
    expect(faultsOf({ status: 'waiting', cursor })).toEqual(['cursor']);
    expect(faultsOf({ status: 'null', cursor })).toEqual(['cursor']);
    expect(faultsOf({ status: 'enabled', channel_id: '77', cursor })).toEqual(['cursor']);
  });

  it.each(['a b', 'a-b', 'a\0', '\ud800', 'ä', "'", 'a'.repeat(256)])('rejects %j as a status', (status) => {
    expect(faultsOf({ status })).toEqual(['status']);
  });

  it('reports all errors at once', () => {
    expect(faultsOf({ status: '-', page_size: '0', cursor: 'x' })).toEqual(['cursor', 'page_size', 'status']);
  });
});
