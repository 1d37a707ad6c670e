import type { DataSource } from 'typeorm';

/**
 * Writes down which platform this database's events come from, at the first start.
 *
 * @throws at a later start when they came from another one: simulated events never mix with real ones
 */
export async function claimStoreFor(platform: string, dataSource: DataSource): Promise<void> {
  await dataSource.query('INSERT INTO store_identity (platform) VALUES ($1) ON CONFLICT DO NOTHING', [
    platform,
  ]);
  const [identity] = await dataSource.query<{ platform: string }[]>('SELECT platform FROM store_identity');
  if (identity?.platform !== platform) {
    throw new Error(
      `this database holds events of platform ${identity?.platform}, but PLATFORM is ${platform}: events of two platforms never mix. ` +
        'Use another database for this platform.',
    );
  }
}
