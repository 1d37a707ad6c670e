import { DeviceLogin, SimulatorSetup, type Reply } from '../../test/simulator-setup.js';

const path = '/helix/chat/messages';
const body = { broadcaster_id: '77', sender_id: '78', message: 'Hello, Mira!' };

describe('chat of the simulated platform', () => {
  let setup: SimulatorSetup;
  let device: DeviceLogin;

  beforeEach(async () => {
    setup = await SimulatorSetup.start({ SIMULATOR_GRANTS: 'explicit' });
    device = new DeviceLogin(setup, 'an-application');
    await setup.call('POST', '/simulator/users', { login: 'mira', id: '77', display_name: 'Mira' });
    await setup.call('POST', '/simulator/users', { login: 'nora', id: '78', display_name: 'Nora' });
  });

  afterEach(() => setup.close());

  const sendAs = async (scopes: string, request: Record<string, unknown> = body): Promise<Reply> =>
    setup.call('POST', path, request, (await device.logIn('nora', scopes)).headers);

  it('accepts a message from the token’s user, and notifies the subscriptions', async () => {
    await device.logIn('mira', 'user:read:chat user:bot channel:bot');
    const condition = { broadcaster_user_id: '77', user_id: '77' };
    await setup.subscribe({ type: 'channel.chat.message', version: '1', condition });
    const { status, json } = await sendAs('user:write:chat');

    expect([status, json.data]).toEqual([
      200,
      [{ message_id: expect.any(String), is_sent: true, drop_reason: null }],
    ]);
    const sent = json.data[0] as unknown as { message_id: string };
    const [received] = await setup.receiver.waitFor(1, ({ json: { event } }) => event !== undefined);
    expect(received?.json.event).toMatchObject({
      broadcaster_user_id: '77',
      chatter_user_id: '78',
      chatter_user_name: 'Nora',
      message_id: sent.message_id,
      message: { text: body.message },
    });
  });

  it('accepts the ids in the query, as Twurple and twitchAPI send them', async () => {
    const { headers } = await device.logIn('nora', 'user:write:chat');
    const { status } = await setup.call(
      'POST',
      `${path}?broadcaster_id=77&sender_id=78`,
      { message: body.message },
      headers,
    );
    expect(status).toBe(200);
  });

  it('requires the scope in the token, and the token of the sender', async () => {
    expect(await sendAs('user:read:chat')).toMatchObject({
      status: 401,
      json: { message: 'Missing scope: user:write:chat' },
    });
    expect((await sendAs('user:write:chat', { ...body, sender_id: '77' })).status).toBe(401);
  });

  it('accepts an app access token for a bot that may write in the channel', async () => {
    expect((await setup.call('POST', path, body)).status).toBe(403);
    await device.logIn('nora', 'user:write:chat user:bot');
    expect((await setup.call('POST', path, body)).status).toBe(403);
    await device.logIn('mira', 'channel:bot');
    expect((await setup.call('POST', path, body)).status).toBe(200);
  });

  it.each([
    ['the message is missing', { message: undefined }, 400],
    ['the channel does not exist', { broadcaster_id: '1' }, 400],
    ['the message is too long', { message: 'x'.repeat(501) }, 422],
  ])('rejects the message when %s', async (_, fields, status) => {
    expect((await sendAs('user:write:chat', { ...body, ...fields })).status).toBe(status);
  });

  it('returns channels, and omits unknown ones', async () => {
    const { json } = await setup.call('GET', '/helix/channels?broadcaster_id=77&broadcaster_id=1');
    expect(json.data).toEqual([
      expect.objectContaining({
        broadcaster_id: '77',
        broadcaster_login: 'mira',
        broadcaster_name: 'Mira',
        game_id: expect.stringMatching(/^\d+$/),
        title: expect.any(String),
      }),
    ]);
    expect((await setup.call('GET', '/helix/channels')).status).toBe(400);
  });
});
