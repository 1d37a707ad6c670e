import type { ServerResponse } from 'node:http';
import { jest } from '@jest/globals';
import { maxPictureBytes } from '@stream-events/contracts';
import { PlatformUnavailableError } from '@stream-events/platforms';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import { Pictures } from './pictures.service.js';

const users = 'GET /api/users';
const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

describe(Pictures.name, () => {
  let setup: ConnectorSetup;
  let instance: ConnectorInstance;
  /** Returns the address that the platform reports for a user's picture. */
  let addressOf: (id: string) => string;
  /** Replies when the connector downloads a picture. */
  let serve: (response: ServerResponse, name: string) => void;
  let downloads: string[];

  beforeAll(async () => {
    setup = await ConnectorSetup.start();
  });
  beforeEach(async () => {
    downloads = [];
    addressOf = (id) => `http://127.0.0.1:${setup.fake.port}/pictures/${id}`;
    serve = (response, name) => response.writeHead(200, { 'content-type': 'image/png' }).end(pictureOf(name));
    setup.fake.fault = ({ name, headers }, response) => {
      if (!name.startsWith('GET /pictures/')) return false;
      expect(headers.authorization).toBeUndefined();
      downloads.push(name.slice('GET /pictures/'.length));
      serve(response, name);
      return true;
    };
    setup.fake.answers.set(users, ({ query }) => [
      200,
      { data: query.getAll('id').map((id) => ({ id, profile_image_url: addressOf(id) })) },
    ]);
    setup.fake.answers.set('GET /api/games', ({ query }) => [
      200,
      { data: query.getAll('id').map((id) => ({ id, box_art_url: `${addressOf(id)}-{width}x{height}` })) },
    ]);
    instance = await setup.createInstance();
  });
  afterEach(() => setup.reset());
  afterAll(() => setup.stop());

  const pictureOf = (name: string): Buffer => Buffer.concat([signature, Buffer.from(name)]);
  const get = (id: string): Promise<Buffer> =>
    instance.pictures.get({ kind: 'user', id }).then(({ bytes }) => bytes);
  const code = async (id = '1'): Promise<unknown> =>
    get(id).then(
      () => 'found',
      (error: unknown) => (error as { code?: string }).code, // Safe cast: ServiceErrors have a code.
    );
  const makeStale = (): Promise<unknown> =>
    setup.dataSource.query("UPDATE pictures SET fetched_at = now() - interval '25 hours'");
  const cached = async (): Promise<string[]> =>
    (await setup.dataSource.query<{ id: string }[]>('SELECT id FROM pictures ORDER BY id')).map(
      ({ id }) => id,
    );

  /** Makes this many requests leave the cache at the same moment, as on an idle machine. */
  const leaveCacheTogether = (count: number): void => {
    const find = instance.pictureCache.find.bind(instance.pictureCache);
    let open = (): void => undefined;
    const isOpen = new Promise<void>((resolve) => (open = resolve));
    let found = 0;
    jest.spyOn(instance.pictureCache, 'find').mockImplementation(async (key) => {
      const picture = await find(key);
      found += 1;
      if (found === count) open();
      await isOpen;
      return picture;
    });
  };

  it('fetches a picture once, for all instances', async () => {
    const other = await setup.createInstance();
    const first = await instance.pictures.get({ kind: 'user', id: '1' });

    expect(first).toEqual({
      bytes: pictureOf('GET /pictures/1'),
      mediaType: 'image/png',
      hash: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(await other.pictures.get({ kind: 'user', id: '1' })).toEqual(first);
    expect([downloads, setup.fake.count(users)]).toEqual([['1'], 1]);
  });

  it('fetches the picture of a category in a fixed size', async () => {
    await instance.pictures.get({ kind: 'category', id: '743' });

    expect(downloads).toEqual(['743-144x192']);
  });

  it('looks up many pictures with few calls, downloads four at a time, and each one once', async () => {
    const running = new Set<() => void>();
    let highest = 0;
    const replyToAll = (): void => {
      for (const reply of running) reply();
      running.clear();
    };
    serve = (response, name) => {
      const timers = [setTimeout(replyToAll, 1_500)];
      running.add(() => {
        for (const timer of timers) clearTimeout(timer);
        response.writeHead(200).end(pictureOf(name));
      });
      highest = Math.max(highest, running.size);
      // When four downloads run, wait a little for a fifth. On a busy machine, downloads do not start at the same time.
      if (running.size === 4) timers.push(setTimeout(replyToAll, 20));
    };
    const ids = Array.from({ length: 60 }, (_, index) => String(index));
    leaveCacheTogether(ids.length);
    await Promise.all([...ids, ...ids].map(get));

    expect(setup.fake.count(users)).toBeLessThan(5);
    expect(downloads.toSorted()).toEqual(ids.toSorted());
    expect(highest).toBe(4);
  });

  it.each([
    ['another host', (id: string) => `http://localhost:${setup.fake.port}/pictures/${id}`],
    ['another port', (id: string) => `http://127.0.0.1:1/pictures/${id}`],
    ['credentials', (id: string) => `http://a@127.0.0.1:${setup.fake.port}/pictures/${id}`],
    ['a file', () => 'file:///etc/passwd'],
    ['data', () => 'data:image/png;base64,iVBORw0KGgo='],
    ['no address', () => 'not a URL'],
    ['nothing', () => ''],
  ])('fetches nothing from %s', async (_, address) => {
    addressOf = address;

    expect(await code()).toBe('not_found');
    expect(downloads).toEqual([]);
  });

  it.each([
    ['a redirect', (response: ServerResponse) => response.writeHead(302, { location: '/pictures/2' }).end()],
    ['status 404', (response: ServerResponse) => response.writeHead(404).end(pictureOf('x'))],
    [
      'HTML',
      (response: ServerResponse) => response.writeHead(200, { 'content-type': 'image/png' }).end('<html>'),
    ],
    [
      'SVG',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg/>'),
    ],
    [
      'too many bytes',
      (response: ServerResponse) => response.end(Buffer.concat([signature, Buffer.alloc(maxPictureBytes)])),
    ],
  ])('remembers that there is no picture after %s', async (_, answer) => {
    serve = answer;

    expect([await code(), await code()]).toEqual(['not_found', 'not_found']);
    expect(downloads).toEqual(['1']);
  });

  it('remembers that a user does not exist', async () => {
    setup.fake.answers.set(users, () => [200, { data: [] }]);

    expect([await code(), await code()]).toEqual(['not_found', 'not_found']);
    expect(setup.fake.count(users)).toBe(1);
  });

  it.each([
    ['the server of pictures fails', () => (serve = (response) => response.writeHead(503).end())],
    ['the connection is cut', () => (serve = (response) => response.destroy())],
    ['the look-up fails', () => setup.fake.answers.set(users, () => [400, { message: 'no' }])],
  ])('uses the old picture when %s, and remembers no failure', async (_, fail) => {
    const old = await get('1');
    await makeStale();
    fail();

    expect(await get('1')).toEqual(old);
    await expect(get('2')).rejects.toBeInstanceOf(PlatformUnavailableError);
    expect(await cached()).toEqual(['1']);
  });

  it('fetches a stale picture again', async () => {
    await get('1');
    await makeStale();
    serve = (response) => response.writeHead(200).end(pictureOf('a new one'));

    expect(await get('1')).toEqual(pictureOf('a new one'));
  });

  it('removes the least recently used pictures above the limits', async () => {
    const image = { bytes: Buffer.alloc(100), mediaType: 'image/png', hash: 'x' };
    const limits = { count: 3, bytes: 250 };
    const save = async (id: string, isMissing = false): Promise<void> => {
      await instance.pictureCache.save({ kind: 'user', id }, isMissing ? null : image, limits);
      await setup.dataSource.query("UPDATE pictures SET used_at = used_at - interval '2 hours'");
    };
    for (const id of ['1', '2']) await save(id);
    await instance.pictureCache.find({ kind: 'user', id: '1' });
    await save('3');
    expect(await cached()).toEqual(['1', '3']);
    for (const id of ['4', '5']) await save(id, true);
    expect(await cached()).toEqual(['3', '4', '5']);
  });
});
