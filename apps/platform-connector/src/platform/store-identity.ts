import type { DataSource } from 'typeorm';

/**
 * Writes down which platform this database is about, at the first start.
 *
 * @throws at a later start with another one: ids of simulated users are real people's on the real platform
 */
export async function claimStoreFor(platform: string, dataSource: DataSource): Promise<void> {
  await dataSource.query('INSERT INTO store_identity (platform) VALUES ($1) ON CONFLICT DO NOTHING', [
    platform,
  ]);
  const [identity] = await dataSource.query<{ platform: string }[]>('SELECT platform FROM store_identity');
  if (identity?.platform === platform) return;
  throw new Error(
    `this database holds subscriptions of platform ${identity?.platform}, but PLATFORM is ${platform}: two platforms never mix. ` +
      'Use another database for this platform.',
  );
}
