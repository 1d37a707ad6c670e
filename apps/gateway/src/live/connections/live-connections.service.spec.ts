import { Registry } from '@stream-events/service';
import { MadeFeed, MadeSink } from '../../../test/live-events.js';
import type { Caller } from '../../access/caller.js';
import type { EndedToken } from '../../access/token-lookup.service.js';
import type { EventFeed } from '../stream/event-feed.service.js';
import type { EventHistory } from '../stream/event-history.service.js';
import { CatchUps } from '../usage/catch-ups.js';
import { ConnectionPlaces } from '../usage/connection-places.js';
import { UsageBoard } from '../usage/usage-board.js';
import type { LiveConnection } from './live-connection.js';
import { LiveConnections } from './live-connections.service.js';

const stamp = 'the stamp';
const caller: Caller = {
  ...{ id: 'ada', username: 'ada', role: 'user' },
  token: { id: '1', name: null, stamp, kind: 'main', limits: {} },
};

describe(LiveConnections.name, () => {
  let connections: LiveConnections;
  let board: UsageBoard;
  let places: ConnectionPlaces;
  let ended: EndedToken[];
  /** The stamps that were checked. */
  let checks: string[];
  let onCheck: () => void;

  beforeEach(() => {
    ended = [];
    checks = [];
    onCheck = () => undefined;
    const feed = new MadeFeed();
    feed.begin('1a2b3c4d');
    board = new UsageBoard();
    const metrics = new Registry();
    places = new ConnectionPlaces(board, { connections: 10, perUser: 1, patienceMs: 60_000 });
    connections = new LiveConnections(
      feed as unknown as EventFeed, // Safe cast: connections use only these parts of the feed.
      feed.history as unknown as EventHistory, // Safe cast: connections only read the history.
      metrics,
      places,
      new CatchUps(board, metrics),
      {
        findEnded: ([asked = '']) => {
          checks.push(asked);
          onCheck();
          return Promise.resolve(ended);
        },
      },
    );
  });

  afterEach(() => connections.stop());

  /** Reports how many connections the user has at another gateway. */
  const reportOther = (count: number): void =>
    board.learn({ gateway: 'other', users: [{ id: 'ada', connections: count, catchUps: 0, waiting: 0 }] });

  const open = (): Promise<LiveConnection | undefined> =>
    connections.open(
      { filter: {}, keepAlive: false },
      { caller, address: '127.0.0.1', isGone: () => false, makeSink: () => new MadeSink() },
    );

  /** Opens a connection that waits until the user's connection at another gateway has ended. */
  async function openAfterWait(): Promise<LiveConnection | undefined> {
    reportOther(1);
    const opened = open();
    reportOther(0);
    return opened;
  }

  describe('open', () => {
    it('does not check the token again when a place is free', async () => {
      expect(await open()).toBeDefined();
      expect(checks).toEqual([]);
    });

    it('checks the token again after a wait for a place', async () => {
      expect(await openAfterWait()).toBeDefined();
      expect(checks).toEqual([stamp]);
    });

    it.each([
      ['was revoked', 'unauthenticated', false],
      ['has other rights', 'unavailable', true],
    ])(
      'rejects a client whose token %s during the wait, and releases the place',
      async (_, code, isChanged) => {
        ended = [{ stamp, isChanged }];

        await expect(openAfterWait()).rejects.toMatchObject({ code });
        expect(connections.report().open).toEqual([]);
        expect(await places.take(caller)).toBe(false);
      },
    );

    it('rejects a client when the process stops while it checks the token', async () => {
      onCheck = () => connections.stop();

      await expect(openAfterWait()).rejects.toMatchObject({ code: 'unavailable' });
    });
  });
});
