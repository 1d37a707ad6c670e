import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGateway } from '../../test/connect-gateway.js';
import { insertUser } from '../../test/insert-user.js';
import type { Rehearsal } from './rehearsal.entity.js';
import { RehearsalsRepository, type RehearsalProgress } from './rehearsals.repository.js';

describe(RehearsalsRepository.name, () => {
  const [gateway, other] = [randomUUID(), randomUUID()];
  const begin = new Date('2026-11-24T10:00:00Z');
  const after = (seconds: number): Date => new Date(begin.getTime() + seconds * 1_000);
  let database: TestDatabase;
  let dataSource: DataSource;
  let sut: RehearsalsRepository;
  let rehearsal: Rehearsal;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectGateway(database, 2);
    sut = new RehearsalsRepository(dataSource);
  });

  beforeEach(async () => {
    const { id: userId } = await insertUser(dataSource);
    rehearsal = await sut.create(
      {
        userId,
        connectionName: 'overlay',
        streamerId: randomUUID(),
        streamId: randomUUID(),
        filters: {},
        since: begin,
        until: after(3_600),
        speed: 1,
        isPaused: false,
        reachedAt: begin,
        createdBy: userId,
      },
      gateway,
    );
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const progress = (seconds: number): RehearsalProgress => ({
    reachedAt: after(seconds),
    position: randomUUID(),
    sent: seconds,
    connections: 1,
    isPlaying: true,
  });
  const expireLease = () =>
    dataSource.query(`UPDATE rehearsals SET leased_until = now() + interval '1 ms' WHERE id = $1`, [
      rehearsal.id,
    ]);

  it('keeps the lease and the progress of a run while a client keeps changing the speed', async () => {
    await expireLease();
    const known = rehearsal;
    await sut.change(known.id, { speed: 2 });
    const saved = await sut.saveProgress(known, gateway, progress(30));

    expect(saved).toMatchObject({ speed: 2, reachedAt: after(30), sent: 30 });
    expect(await sut.takeOver(other, [])).toEqual([]);
  });

  it('keeps the place that a client has chosen, and renews the lease', async () => {
    await expireLease();
    const known = rehearsal;
    await sut.change(known.id, { reachedAt: after(1_000) });
    const saved = await sut.saveProgress(known, gateway, progress(30));

    expect(saved).toMatchObject({ reachedAt: after(1_000), position: null, sent: 30 });
    expect(await sut.takeOver(other, [])).toEqual([]);
  });

  it('returns null after another gateway has taken the rehearsal over', async () => {
    await dataSource.query(`UPDATE rehearsals SET leased_until = now() - interval '1 s' WHERE id = $1`, [
      rehearsal.id,
    ]);
    expect((await sut.takeOver(other, [])).map(({ id }) => id)).toEqual([rehearsal.id]);

    expect(await sut.saveProgress(rehearsal, gateway, progress(30))).toBeNull();
  });
});
