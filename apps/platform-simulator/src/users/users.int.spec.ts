import { eventually } from '@stream-events/testing';
import { SimulatorSetup } from '../../test/simulator-setup.js';

interface MadeUser {
  id: string;
  login: string;
  display_name: string;
}

describe('users of the simulated platform', () => {
  let setup: SimulatorSetup;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
  });

  afterEach(() => setup.close());

  const make = async (body: Record<string, unknown>): Promise<MadeUser[]> =>
    (await setup.call('POST', '/simulator/users', body)).json.users as MadeUser[];

  const lookUp = async (query: string): Promise<string[]> =>
    (await setup.call('GET', `/helix/users?${query}`)).json.data.map(({ id }) => id);

  describe('GET /helix/users', () => {
    it('finds users by id and by login in any case, each once, and omits unknown ones', async () => {
      await make({ login: 'Mira', display_name: 'MIRA', id: '77' });
      await make({ login: 'vera', id: '78' });
      expect(await lookUp('id=77&login=MIRA&login=vera&id=0&login=nobody')).toEqual(['77', '78']);
      const { json } = await setup.call('GET', '/helix/users?id=77');
      expect(json.data[0]).toMatchObject({
        login: 'mira',
        display_name: 'MIRA',
        type: '',
        broadcaster_type: '',
        created_at: expect.stringMatching(/^20\d\d-/),
      });
    });

    it('accepts at most 100 ids and logins together', async () => {
      const ids = Array.from({ length: 60 }, (_, index) => `id=${index}`).join('&');
      const logins = Array.from({ length: 40 }, (_, index) => `login=l${index}`).join('&');
      expect((await setup.call('GET', `/helix/users?${ids}&${logins}`)).status).toBe(200);
      expect((await setup.call('GET', `/helix/users?${ids}&${logins}&login=one`)).status).toBe(400);
      expect((await setup.call('GET', '/helix/users')).status).toBe(400);
    });
  });

  describe('POST /simulator/users', () => {
    it('responds with 409 for a login or an id that is in use', async () => {
      await make({ login: 'mira', id: '77' });
      expect((await setup.call('POST', '/simulator/users', { login: 'MIRA' })).status).toBe(409);
      expect((await setup.call('POST', '/simulator/users', { login: 'vera', id: '77' })).status).toBe(409);
    });

    it.each([[{}], [{ login: 'no spaces' }], [{ count: 0 }], [{ count: 20_001 }], [{ login: 'a', id: '/' }]])(
      'responds with 400 to %j',
      async (body) => {
        expect((await setup.call('POST', '/simulator/users', body)).status).toBe(400);
      },
    );

    it('adds 20,000 users with unique names and ids', async () => {
      const users = await make({ count: 20_000 });
      expect(new Set(users.map(({ id }) => id)).size).toBe(20_000);
      expect(new Set(users.map(({ login }) => login)).size).toBe(20_000);
      const last = users.slice(-100);
      expect(await lookUp(last.map(({ id }) => `id=${id}`).join('&'))).toEqual(last.map(({ id }) => id));
    });
  });

  describe('PATCH and DELETE /simulator/users', () => {
    it('renames a user in look-ups and in events', async () => {
      await make({ login: 'mira', id: '77' });
      await make({ login: 'vera', id: '78' });
      const rename = (login: string) => setup.call('PATCH', '/simulator/users/77', { login });
      expect((await rename('VERA')).status).toBe(409);
      expect((await rename('Nora')).status).toBe(200);
      expect(await lookUp('login=mira&login=nora')).toEqual(['77']);
      await setup.subscribe({
        type: 'channel.cheer',
        version: '1',
        condition: { broadcaster_user_id: '77' },
      });
      const { json } = await setup.send({ type: 'channel.cheer' });
      expect((JSON.parse(String(json.body)) as { event: object }).event).toMatchObject({
        broadcaster_user_id: '77',
        broadcaster_user_login: 'nora',
        broadcaster_user_name: 'Nora',
      });
      expect((await setup.call('PATCH', '/simulator/users/none', { login: 'x' })).status).toBe(404);
    });

    it('removes a user, ends the stream, and revokes subscriptions with user_removed', async () => {
      await make({ login: 'mira', id: '77' });
      await setup.call('POST', '/simulator/streams', { user_id: '77' });
      const condition = { broadcaster_user_id: '77', moderator_user_id: '77' };
      const { id } = await setup.subscribe({ condition });
      expect((await setup.call('DELETE', '/simulator/users/77')).status).toBe(204);
      expect(await lookUp('id=77&login=mira')).toEqual([]);
      expect((await setup.call('GET', '/helix/streams?user_id=77')).json.data).toEqual([]);
      const truth = await setup.call('GET', '/simulator/streams?user_id=77');
      expect(truth.json).toMatchObject([{ user_id: '77', ended_at: expect.any(String) }]);
      const [revocation] = await setup.receiver.waitFor(
        1,
        ({ headers }) => headers['twitch-eventsub-message-type'] === 'revocation',
      );
      expect(revocation?.json.subscription).toMatchObject({ id, status: 'user_removed' });
      await eventually(async () => {
        const { json } = await setup.call('GET', '/helix/eventsub/subscriptions?status=user_removed');
        expect(json.data.map((view) => view.id)).toEqual([id]);
      });
      const path = '/helix/eventsub/subscriptions';
      const again = await setup.call('POST', path, setup.subscription({ condition }));
      expect([again.status, again.json.message]).toEqual([400, 'there is no user 77']);
      expect((await setup.call('DELETE', '/simulator/users/77')).status).toBe(404);
    });
  });
});
