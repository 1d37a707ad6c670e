import { SimulatorSetup } from '../../test/simulator-setup.js';

describe('pictures of the simulated platform', () => {
  let setup: SimulatorSetup;

  beforeAll(async () => {
    setup = await SimulatorSetup.start();
    await setup.call('POST', '/simulator/users', { login: 'mira', id: '77' });
    await setup.call('POST', '/simulator/users', { login: 'nora', id: '78' });
  });

  afterAll(() => setup.close());

  const fetchPicture = async (url: string): Promise<{ type: string | null; bytes: Buffer }> => {
    const response = await fetch(url);
    expect([url, response.status]).toEqual([url, 200]);
    return { type: response.headers.get('content-type'), bytes: Buffer.from(await response.arrayBuffer()) };
  };

  const userPicture = async (id: string): Promise<string> => {
    const { json } = await setup.call('GET', `/helix/users?id=${id}`);
    return (json.data[0] as unknown as { profile_image_url: string }).profile_image_url;
  };

  it('are PNG files, always the same for a user, and different for two', async () => {
    const { type, bytes } = await fetchPicture(await userPicture('77'));

    expect([type, bytes.toString('latin1', 0, 8)]).toEqual(['image/png', '\x89PNG\r\n\x1a\n']);
    expect(bytes.length).toBeLessThan(16 * 1024);
    expect((await fetchPicture(await userPicture('77'))).bytes).toEqual(bytes);
    expect((await fetchPicture(await userPicture('78'))).bytes).not.toEqual(bytes);
  });

  it('have the requested size for a category', async () => {
    const { json } = await setup.call('GET', '/helix/games?id=509658&id=1&name=Chess');
    expect(json.data).toMatchObject([{ name: 'Just Chatting' }, { name: 'Chess' }]);
    const template = (json.data[0] as unknown as { box_art_url: string }).box_art_url;
    const { bytes } = await fetchPicture(template.replace('{width}x{height}', '144x192'));

    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([144, 192]);
  });

  it.each([
    'users/1.png',
    'users/77',
    'categories/1-10x10.png',
    'categories/743-0x10.png',
    'categories/743-9999x10.png',
  ])('do not exist at %s', async (path) => {
    expect((await fetch(`${setup.simulator.url}/pictures/${path}`)).status).toBe(404);
  });
});
