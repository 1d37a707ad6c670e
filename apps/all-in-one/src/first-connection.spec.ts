import { ServiceError, type ConnectionMessage } from '@stream-events/contracts';
import { offerFirstConnection, reportConnection, type Connections } from './first-connection.js';

const pending: ConnectionMessage = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  state: 'pending',
  role: 'channel',
  userId: null,
  login: null,
  scopes: ['bits:read', 'channel:read:polls'],
  userCode: 'ABCDEFGH',
  verificationUri: 'https://platform.example/activate',
  expiresAt: Date.now() + 1_800_000,
  remedy: null,
  createdAt: 0,
  updatedAt: 0,
};

const connections = (overrides: Partial<Connections>): Connections => ({
  offer: () => Promise.resolve(undefined),
  get: () => Promise.reject(new ServiceError('not_found', 'no such connection')),
  ...overrides,
});

describe('offerFirstConnection', () => {
  it('shows the page, the code, and the permissions in words', async () => {
    const offer = () => Promise.resolve({ ...pending, expiresAt: Date.now() + 1_800_000 });
    const { id, lines } = await offerFirstConnection({ PLATFORM: 'twitch' }, connections({ offer }));
    expect(id).toBe(pending.id);
    const text = lines.join('\n');
    for (const part of [
      'ABCDEFGH',
      'https://platform.example/activate',
      '30 minutes',
      'See polls',
      'docs/twitch.md',
    ])
      expect(text.toLowerCase()).toContain(part.toLowerCase());
  });

  it('says what is missing when the platform gives no code, and goes on', async () => {
    const offer = () => Promise.reject(new Error('No platform application is configured.'));
    const { lines } = await offerFirstConnection({ PLATFORM: 'twitch' }, connections({ offer }));
    expect(lines.join(' ')).toMatch(/No platform application is configured.*docs\/twitch.md/);
  });

  it('says nothing when a channel was connected, or the platform is simulated', async () => {
    expect(await offerFirstConnection({ PLATFORM: 'twitch' }, connections({}))).toEqual({ lines: [] });
    const offer = () => Promise.reject(new Error('not asked'));
    expect(await offerFirstConnection({ PLATFORM: 'simulator' }, connections({ offer }))).toEqual({
      lines: [],
    });
  });
});

describe('reportConnection', () => {
  const report = async (get: Connections['get']): Promise<string[]> => {
    const said: string[] = [];
    const { signal } = new AbortController();
    await reportConnection(connections({ get }), pending.id, { say: (line) => said.push(line), signal });
    return said;
  };

  it('says when the channel is connected', async () => {
    const said = await report(() => Promise.resolve({ ...pending, state: 'connected', login: 'mira' }));
    expect(said).toEqual([expect.stringContaining('mira is connected')]);
  });

  it('says what to do when the code has expired, and nothing when the connection was deleted', async () => {
    const expired = { ...pending, state: 'expired' as const, remedy: 'The code expired.' };
    expect(await report(() => Promise.resolve(expired))).toEqual([
      expect.stringContaining('The code expired.'),
    ]);
    expect(await report(connections({}).get)).toEqual([]);
  });

  it('goes on when the connection cannot be read', async () => {
    const replies = [
      () => Promise.reject(new ServiceError('unavailable', 'the database is away')),
      () => Promise.resolve({ ...pending, state: 'connected' as const, login: 'mira' }),
    ];
    const said = await report(() => replies.shift()?.() ?? Promise.reject(new Error('asked again')));
    expect(said).toEqual([expect.stringContaining('mira is connected')]);
  });
});
