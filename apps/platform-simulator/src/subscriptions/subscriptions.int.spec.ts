import { follow, secret, SimulatorSetup, unreachableCallback } from '../../test/simulator-setup.js';
import { answerChallenge, signatureOf, type Received } from '../../test/webhook-receiver.js';

describe('subscriptions of the simulated platform', () => {
  let setup: SimulatorSetup;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
  });

  afterEach(() => setup.close());

  describe('POST /helix/eventsub/subscriptions', () => {
    it('responds with 202 and the subscription, without the secret', async () => {
      const { status, json } = await setup.call(
        'POST',
        '/helix/eventsub/subscriptions',
        setup.subscription(),
      );
      expect(status).toBe(202);
      expect(json).toEqual({
        data: [
          {
            id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
            status: 'webhook_callback_verification_pending',
            ...follow,
            condition: { broadcaster_user_id: '4711', moderator_user_id: '4711' },
            created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/) as unknown,
            transport: { method: 'webhook', callback: setup.receiver.url },
            cost: 0,
          },
        ],
        total: 1,
        total_cost: 0,
        max_total_cost: 10_000,
      });
    });

    it('takes optional keys without a value as left out, as twitchio sends them', async () => {
      const type = 'channel.channel_points_custom_reward_redemption.add';
      const condition = { broadcaster_user_id: '4711', reward_id: '' };
      const { id } = await setup.subscribe({ type, version: '1', condition });
      const { json } = await setup.call('GET', '/helix/eventsub/subscriptions');
      expect(json.data.find((view) => view.id === id)).toHaveProperty('condition', {
        broadcaster_user_id: '4711',
      });
    });

    it('sends a signed challenge and enables the subscription after a correct response', async () => {
      const { id, status } = await setup.subscribe();
      expect(status).toBe('enabled');
      const challenge = setup.receiver.received[0];
      expect(challenge?.headers['twitch-eventsub-message-type']).toBe('webhook_callback_verification');
      expect(challenge?.json.subscription).toMatchObject({
        id,
        status: 'webhook_callback_verification_pending',
      });
      expect(challenge && signatureOf(challenge)).toBe(challenge?.rightSignature);
    });

    it.each([
      ['as quoted JSON', ({ json }: Received) => ({ status: 200, body: JSON.stringify(json.challenge) })],
      ['with an error', ({ json }: Received) => ({ status: 403, body: json.challenge ?? '' })],
      ['with a redirect', () => ({ status: 302, headers: { location: `${setup.receiver.url}/elsewhere` } })],
    ])('fails the subscription when the callback responds to the challenge %s', async (_, answer) => {
      setup.receiver.answer = answer;
      expect(await setup.subscribe()).toMatchObject({ status: 'webhook_callback_verification_failed' });
      expect(setup.receiver.received).toHaveLength(1);
    });

    it('fails the subscription when the callback is unreachable', async () => {
      const transport = { method: 'webhook', callback: unreachableCallback, secret };
      expect(await setup.subscribe({ transport })).toMatchObject({
        status: 'webhook_callback_verification_failed',
      });
    });

    it('responds with 409 and the id of the existing subscription', async () => {
      const { id } = await setup.subscribe();
      const condition = { moderator_user_id: '4711', broadcaster_user_id: '4711' };
      const { status, json } = await setup.call(
        'POST',
        '/helix/eventsub/subscriptions',
        setup.subscription({ condition }),
      );
      expect({ status, json }).toEqual({
        status: 409,
        json: { error: 'Conflict', status: 409, message: 'subscription already exists', id },
      });
    });

    it('responds with 429 to the fourth subscription of one type and condition', async () => {
      for (const path of ['a', 'b', 'c']) {
        const transport = { method: 'webhook', callback: `${setup.receiver.url}/${path}`, secret };
        expect(
          (await setup.call('POST', '/helix/eventsub/subscriptions', setup.subscription({ transport })))
            .status,
        ).toBe(202);
      }
      const fourth = await setup.call('POST', '/helix/eventsub/subscriptions', setup.subscription());
      expect(fourth).toMatchObject({ status: 429, json: { error: 'Too Many Requests', status: 429 } });
    });

    it('accepts a failed subscription again', async () => {
      setup.receiver.answer = () => ({ status: 500 });
      const failed = await setup.subscribe();
      setup.receiver.answer = answerChallenge;
      expect(await setup.subscribe()).toMatchObject({ status: 'enabled' });
      const { json } = await setup.call('GET', '/helix/eventsub/subscriptions');
      expect(json.data.map(({ id }) => id)).not.toContain(failed.id);
    });

    it.each<[string, Record<string, unknown> | string, string]>([
      ['an unknown type', { type: 'channel.dance' }, 'channel.dance'],
      ['a version that never existed', { version: '7' }, 'version 7'],
      ['a missing condition key', { condition: { broadcaster_user_id: '1' } }, 'moderator_user_id'],
      [
        'a short secret',
        { transport: { method: 'webhook', callback: 'http://a/', secret: '123456789' } },
        '10 to 100',
      ],
      [
        'a secret with umlauts',
        { transport: { method: 'webhook', callback: 'http://a/', secret: 'ümläute-0123' } },
        'ASCII',
      ],
      ['no URL', { transport: { method: 'webhook', callback: 'ftp://a/', secret } }, 'callback'],
      [
        'a callback of another origin',
        { transport: { method: 'webhook', callback: 'http://127.0.0.1:10/', secret } },
        'the callback http://127.0.0.1:10/ is not on',
      ],
      ['another method', { transport: { method: 'pigeon' } }, 'method'],
      ['a socket', { transport: { method: 'websocket', session_id: '1' } }, 'transport and auth combination'],
      ['no transport', { transport: undefined }, 'transport'],
      ['no JSON', '{"type":', 'JSON'],
    ])('responds with 400 to %s', async (_, fault, message) => {
      const body = typeof fault === 'string' ? fault : setup.subscription(fault);
      const { status, json } = await setup.call('POST', '/helix/eventsub/subscriptions', body);
      expect({ status, json }).toEqual({
        status: 400,
        json: { error: 'Bad Request', status: 400, message: expect.stringContaining(message) as unknown },
      });
      expect(setup.receiver.received).toEqual([]);
    });
  });

  describe('GET and DELETE /helix/eventsub/subscriptions', () => {
    it('filters by status', async () => {
      const { id } = await setup.subscribe();
      const enabled = await setup.call('GET', '/helix/eventsub/subscriptions?status=enabled');
      expect(enabled.json).toMatchObject({ data: [{ id }], total: 1, pagination: {} });
      const revoked = await setup.call('GET', '/helix/eventsub/subscriptions?status=authorization_revoked');
      expect(revoked.json).toMatchObject({ data: [], total: 1 });
    });

    it('deletes a subscription once', async () => {
      const { id } = await setup.subscribe();
      const path = `/helix/eventsub/subscriptions?id=${id}`;
      expect((await setup.call('DELETE', path)).status).toBe(204);
      expect(await setup.call('DELETE', path)).toMatchObject({
        status: 404,
        json: { error: 'Not Found', status: 404 },
      });
      expect((await setup.call('DELETE', '/helix/eventsub/subscriptions')).status).toBe(400);
    });
  });

  describe('POST /simulator/revocations', () => {
    it('notifies the callback and revokes the subscription', async () => {
      const { id } = await setup.subscribe();
      const request = { subscription_id: id, status: 'authorization_revoked' };
      const { status, json } = await setup.call('POST', '/simulator/revocations', request);
      expect([status, json.responses]).toEqual([200, [{ status: 204 }]]);
      const revocation = setup.receiver.received.at(-1);
      expect(revocation?.headers['twitch-eventsub-message-type']).toBe('revocation');
      expect(revocation?.json).toEqual({
        subscription: expect.objectContaining({ id, status: 'authorization_revoked' }) as unknown,
      });
      expect(revocation && signatureOf(revocation)).toBe(revocation?.rightSignature);
      expect((await setup.send()).status).toBe(404);
    });

    it('responds with 404 for an unknown subscription', async () => {
      const request = { subscription_id: 'none', status: 'user_removed' };
      expect((await setup.call('POST', '/simulator/revocations', request)).status).toBe(404);
    });
  });
});
