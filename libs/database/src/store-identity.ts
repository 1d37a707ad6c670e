import { Column, Entity, PrimaryColumn, type DataSource } from 'typeorm';

/** SQL that creates the table of `StoreIdentity`, for the migrations of services that store a platform's data. */
export const createStoreIdentity = `CREATE TABLE store_identity (
  id boolean NOT NULL DEFAULT true,
  platform text NOT NULL,
  CONSTRAINT store_identity_pkey PRIMARY KEY (id),
  CONSTRAINT store_identity_one_row CHECK (id)
)`;

/** The table's only row: the platform to which all data in the service's schema belongs. */
@Entity({ name: 'store_identity' })
export class StoreIdentity {
  @PrimaryColumn('boolean', { default: true })
  id!: boolean;

  @Column('text')
  platform!: string;
}

/**
 * Records the platform at the first start.
 *
 * @throws Error when a later start names another platform: simulated events and users must never mix with real ones
 */
export async function claimStoreFor(platform: string, dataSource: DataSource): Promise<void> {
  await dataSource.query('INSERT INTO store_identity (platform) VALUES ($1) ON CONFLICT DO NOTHING', [
    platform,
  ]);
  const [identity] = await dataSource.query<{ platform: string }[]>('SELECT platform FROM store_identity');
  if (identity?.platform === platform) return;
  throw new Error(
    `this database holds the data of platform ${identity?.platform}, but PLATFORM is ${platform}. ` +
      'Data of two platforms must not mix: use another database for this platform.',
  );
}
