import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { LeaseColumns } from './lease.js';

/** The statement that creates the table of `EncryptionKey`, for the migrations of services that store encrypted values. */
export const createEncryptionKeys = `CREATE TABLE encryption_keys (
  number bigint GENERATED ALWAYS AS IDENTITY,
  id text NOT NULL,
  leased_by uuid,
  leased_until timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT encryption_keys_pkey PRIMARY KEY (number),
  CONSTRAINT encryption_keys_id_key UNIQUE (id)
)`;

/** How long an instance may re-encrypt without renewing its lease. */
export const encryptionLease = new LeaseColumns({ holder: 'leased_by', until: 'leased_until' }, 20);

/**
 * A key that was the first key in the `SECRET_KEY` of some instance. Values move to the key with the highest number. Without this table, an
 * instance that still has the old order of keys would move values back during a rotation.
 */
@Entity({ name: 'encryption_keys' })
export class EncryptionKey {
  /** Ascends in the order in which the keys were first used. */
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  number!: string;

  /** `SecretBox.firstKeyId`, which does not reveal the key. */
  @Column('text', { unique: true })
  id!: string;

  /** The instance that re-encrypts values, or the last instance that did. */
  @Column('uuid', { name: 'leased_by', nullable: true })
  leasedBy!: string | null;

  @Column('timestamptz', { name: 'leased_until', default: () => 'now()' })
  leasedUntil!: Date;
}
