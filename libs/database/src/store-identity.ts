import { Column, Entity, PrimaryColumn, type DataSource } from 'typeorm';

/** Makes the table of `StoreIdentity`: for a migration of a service whose data are those of one platform. */
export const createStoreIdentity = `CREATE TABLE store_identity (
  id boolean NOT NULL DEFAULT true,
  platform text NOT NULL,
  CONSTRAINT store_identity_pkey PRIMARY KEY (id),
  CONSTRAINT store_identity_one_row CHECK (id)
)`;

/** One row: which platform everything in a service's schema is about. */
@Entity({ name: 'store_identity' })
export class StoreIdentity {
  @PrimaryColumn('boolean', { default: true })
  id!: boolean;

  @Column('text')
  platform!: string;
}

/**
 * Writes down which platform a service's data are about, at the first start.
 *
 * @throws at a later start with another one: simulated events and people never mix with real ones
 */
export async function claimStoreFor(platform: string, dataSource: DataSource): Promise<void> {
  await dataSource.query('INSERT INTO store_identity (platform) VALUES ($1) ON CONFLICT DO NOTHING', [
    platform,
  ]);
  const [identity] = await dataSource.query<{ platform: string }[]>('SELECT platform FROM store_identity');
  if (identity?.platform === platform) return;
  throw new Error(
    `this database holds the data of platform ${identity?.platform}, but PLATFORM is ${platform}: two platforms never mix. ` +
      'Use another database for this platform.',
  );
}
