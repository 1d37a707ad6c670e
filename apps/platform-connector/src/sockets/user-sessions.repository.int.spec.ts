import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectConnector } from '../../test/connect-connector.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

describe(UserSessionsRepository.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let sut: UserSessionsRepository;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 2);
    sut = new UserSessionsRepository(dataSource);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('does not count a socket as held when the database’s clock was set back and its connector has died', async () => {
    const clientId = 'client';
    await dataSource.query(
      `INSERT INTO connections (id, client_id, state, user_id, login, scopes, access_token_encrypted, refresh_token_encrypted)
       VALUES (gen_random_uuid(), $1, 'connected', '77', 'mira', '{}', 'none', 'none')`,
      [clientId],
    );
    await dataSource.query(
      `INSERT INTO user_sessions (user_id, session_id, holder, held_until)
       VALUES ('77', 'one', gen_random_uuid(), now() + interval '1 hour'), ('78', 'two', NULL, NULL)`,
    );
    const lost = [{ userId: '77', isHeld: false }];
    const both = [...lost, { userId: '78', isHeld: false }];

    expect(await sut.ofConnected(clientId)).toMatchObject(lost);
    expect(await sut.all()).toMatchObject(both);
    const removed = await sut.keep([]);
    expect(removed.sort((a, b) => a.userId.localeCompare(b.userId))).toMatchObject(both);
  });
});
